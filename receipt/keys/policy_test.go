package keys

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]receipt.Policy{
		`{"issuer":"i"}`:                               {Issuer: "i"},
		`{"witnesses":{"threshold":2}}`:                {Witnesses: receipt.Quorum{Threshold: 2}},
		`{"witnesses":{"threshold":10000}}`:            {Witnesses: receipt.Quorum{Threshold: MaxKeys}},
		`{"timestamp":{"required":true}}`:              {Timestamp: true},
		`{"checkpoint":{"required":true}}`:             {Checkpoint: receipt.CheckpointRule{Required: true}},
		`{"checkpoint":{"cosigners":{"threshold":1}}}`: {Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 1}}},
		`{"witnesses":{"threshold":1},"checkpoint":{"cosigners":{"keys":["a","b"],"threshold":2},"required":true}}`: {Witnesses: receipt.Quorum{Threshold: 1},
			Checkpoint: receipt.CheckpointRule{Required: true, Cosigners: receipt.Quorum{Threshold: 2, Keys: []string{"a", "b"}}}},
		` {"issuer":"i","witnesses":{"threshold":2.0,"keys":["a","b"]}} `: {Issuer: "i", Witnesses: receipt.Quorum{Threshold: 2, Keys: []string{"a", "b"}}},
	} {
		got, _, err := ParsePolicy([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestParsePolicyRefused verifies that policies are rejected if they could require less than their
// author intended (reliability #138).
func TestParsePolicyRefused(t *testing.T) {
	for text, want := range map[string][2]string{
		`{}`:                                                             {"", "issuer"},
		`[]`:                                                             {"", "object"},
		`{"issuer":""}`:                                                  {"/issuer", "not empty"},
		`{"issuer":null}`:                                                {"/issuer", "string"},
		`{"issuers":["i"]}`:                                              {"", `"issuers"`},
		`{"witnesses":null}`:                                             {"/witnesses", "object"},
		`{"witnesses":{}}`:                                               {"/witnesses/threshold", "whole number"},
		`{"witnesses":{"threshold":0}}`:                                  {"/witnesses/threshold", "from 1"},
		`{"witnesses":{"threshold":-1}}`:                                 {"/witnesses/threshold", "from 1"},
		`{"witnesses":{"threshold":1.5}}`:                                {"/witnesses/threshold", "whole number"},
		`{"witnesses":{"threshold":"2"}}`:                                {"/witnesses/threshold", "whole number"},
		`{"witnesses":{"threshold":1e9}}`:                                {"/witnesses/threshold", "to 10000"},
		`{"witnesses":{"threshold":10001}}`:                              {"/witnesses/threshold", "to 10000"},
		`{"witnesses":{"threshold":1,"keys":[]}}`:                        {"/witnesses/keys", "at least one"},
		`{"witnesses":{"threshold":3,"keys":["a","b"]}}`:                 {"/witnesses/threshold", "2 keys are listed"},
		`{"witnesses":{"threshold":2,"keys":["a","a"]}}`:                 {"/witnesses/keys", "twice"},
		`{"witnesses":{"threshold":1,"keys":["a",1]}}`:                   {"/witnesses/keys", "strings"},
		`{"witnesses":{"threshold":1,"any":["a"]}}`:                      {"/witnesses", `"any"`},
		`{"witnesses":{},"checkpoint":{"required":true}}`:                {"/witnesses/threshold", "whole number"},
		`{"checkpoint":true}`:                                            {"/checkpoint", "object"},
		`{"timestamp":true}`:                                             {"/timestamp", "required"},
		`{"timestamp":{"required":false}}`:                               {"/timestamp", "required"},
		`{"timestamp":{"required":true,"policies":[]}}`:                  {"/timestamp", "required"},
		`{"checkpoint":{}}`:                                              {"/checkpoint", "required"},
		`{"checkpoint":{"required":false}}`:                              {"/checkpoint/required", "true"},
		`{"checkpoint":{"required":1}}`:                                  {"/checkpoint/required", "true"},
		`{"checkpoint":{"require":true}}`:                                {"/checkpoint", `"require"`},
		`{"checkpoint":{"required":true,"cosigners":null}}`:              {"/checkpoint/cosigners", "object"},
		`{"checkpoint":{"cosigners":{"threshold":0}}}`:                   {"/checkpoint/cosigners/threshold", "from 1"},
		`{"checkpoint":{"cosigners":{"threshold":2,"keys":["a"]}}}`:      {"/checkpoint/cosigners/threshold", "1 keys are listed"},
		`{"checkpoint":{"cosigners":{"threshold":1,"keys":[]}}}`:         {"/checkpoint/cosigners/keys", "at least one"},
		`{"checkpoint":{"cosigners":{"threshold":1,"witnesses":["a"]}}}`: {"/checkpoint/cosigners", `"witnesses"`},
	} {
		p, _, err := ParsePolicy([]byte(text))
		where := "policy file: "
		if want[0] != "" {
			where += "at " + want[0] + ": "
		}
		if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), want[1]) || !reflect.DeepEqual(p, receipt.Policy{}) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, _, err := ParsePolicy([]byte(`{"issuer":"a","issuer":"b"}`))
	if e, ok := errors.AsType[*canon.SyntaxError](err); !ok || e.Code != "duplicate_name" {
		t.Errorf("%v", err)
	}
}

// TestPolicyIsWhole verifies that every requirement of a policy is parsed, in a policy that has all
// of them.
func TestPolicyIsWhole(t *testing.T) {
	p, _, err := ParsePolicy([]byte(`{"issuer":"i","witnesses":{"threshold":1},"checkpoint":{"required":true},"timestamp":{"required":true}}`))
	if err != nil || p.Issuer != "i" || p.Witnesses.Threshold != 1 || !p.Checkpoint.Required || !p.Timestamp {
		t.Errorf("%+v, %v", p, err)
	}
}
