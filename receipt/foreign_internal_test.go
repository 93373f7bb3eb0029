package receipt

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A rawTrust returns the results of a function for signatures of third-party receipts.
type rawTrust struct {
	Trust
	check func(s *ForeignSignature) (*Key, *SignatureError)
}

func (t rawTrust) Len() int { return 1 }

func (t rawTrust) CheckRaw(_ []byte, s *ForeignSignature) (*Key, *SignatureError) { return t.check(s) }

// TestForeignVerdicts verifies the verdict for each combination of signatures, checks, and
// requirements.
func TestForeignVerdicts(t *testing.T) {
	noon := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	trust := rawTrust{check: func(s *ForeignSignature) (*Key, *SignatureError) {
		switch s.KeyID {
		case "good":
			return &Key{ID: "good", Issuers: []string{"i"}}, nil
		case "unbound":
			return &Key{ID: "unbound"}, nil
		case "later":
			return &Key{ID: "later", Issuers: []string{"i"}, NotBefore: noon}, nil
		case "until":
			return &Key{ID: "until", Issuers: []string{"i"}, NotAfter: noon}, nil
		case "replaced":
			return &Key{ID: "replaced", Issuers: []string{"i"}, Revoked: &Revocation{At: noon, Reason: "superseded"}}, nil
		case "witness":
			return &Key{ID: "witness", Roles: []Role{RoleWitness}}, nil
		case "log":
			return &Key{ID: "log", Roles: []Role{RoleCheckpoint}}, nil
		case "silent":
			return nil, nil
		case "odd":
			return nil, &SignatureError{"odd", "a"}
		case "malformed":
			return nil, &SignatureError{CodeMalformedSignature, "a"}
		case "mismatch":
			return &Key{ID: "mismatch", Issuers: []string{"i"}}, &SignatureError{CodeAlgorithmMismatch, "a"}
		case "unknown":
			return nil, &SignatureError{CodeUnknownKey, "a"}
		}
		return nil, &SignatureError{CodeSignatureInvalid, "a"}
	}}
	by := func(ids ...string) (list []ForeignSignature) {
		for _, id := range ids {
			list = append(list, ForeignSignature{KeyID: id, Issuer: "i", Messages: [][]byte{nil}})
		}
		return list
	}
	with := func(change func(*ForeignSignature), ids ...string) []ForeignSignature {
		list := by(ids...)
		for i := range list {
			change(&list[i])
		}
		return list
	}
	unsure := func(s *ForeignSignature) { s.Unsure = "the order is unknown" }
	check := func(step Step, status Status, code Code) []Check {
		return []Check{{Step: step, Status: status, Code: code, Detail: "a"}}
	}
	many := slices.Repeat(by("good"), maxSignatures+1)
	for name, c := range map[string]struct {
		f      Foreign
		policy Policy
		want   string
	}{
		"valid":                       {Foreign{Signatures: by("good")}, Policy{}, "verified"},
		"unsigned":                    {Foreign{}, Policy{}, "undecided unsigned"},
		"invalid":                     {Foreign{Signatures: by("bad")}, Policy{}, "refuted signature_invalid"},
		"malformed":                   {Foreign{Signatures: by("good", "malformed")}, Policy{}, "refuted malformed_signature"},
		"another algorithm":           {Foreign{Signatures: by("good", "mismatch")}, Policy{}, "refuted algorithm_mismatch"},
		"unknown":                     {Foreign{Signatures: by("unknown")}, Policy{}, "undecided unknown_key"},
		"silent trust":                {Foreign{Signatures: by("silent")}, Policy{}, "undecided unknown_key"},
		"odd trust":                   {Foreign{Signatures: by("odd")}, Policy{}, "undecided unknown_key"},
		"unbound":                     {Foreign{Signatures: by("unbound")}, Policy{}, "undecided issuer_unbound"},
		"unbound, required issuer":    {Foreign{Signatures: by("unbound")}, Policy{Issuer: "i"}, "verified"},
		"another issuer":              {Foreign{Signatures: by("good")}, Policy{Issuer: "j"}, "refuted issuer_mismatch"},
		"issuer of the key":           {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")}, Policy{}, "refuted issuer_mismatch"},
		"no author":                   {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{}, "verified"},
		"no author, required":         {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{Issuer: "i"}, "verified"},
		"no author, another required": {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{Issuer: "j"}, "refuted issuer_mismatch"},
		"no author, by a witness":     {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "witness")}, Policy{}, "refuted role_mismatch"},
		"unsure, key named":           {Foreign{Signatures: with(unsure, "bad")}, Policy{}, "undecided signatures_not_checked"},
		"unsure, no key":              {Foreign{Signatures: with(unsure, "")}, Policy{}, "undecided unknown_key"},
		"unsure, key in the receipt":  {Foreign{Signatures: with(func(s *ForeignSignature) { s.Unsure, s.Public = "a", []byte{1} }, "")}, Policy{}, "undecided signatures_not_checked"},
		"unsure, valid":               {Foreign{Signatures: with(unsure, "good")}, Policy{}, "verified"},
		"no time":                     {Foreign{Signatures: by("later")}, Policy{}, "undecided signatures_not_checked"},
		"no time, until":              {Foreign{Signatures: by("until")}, Policy{}, "undecided signatures_not_checked"},
		"no time, replaced":           {Foreign{Signatures: by("replaced")}, Policy{}, "undecided signatures_not_checked"},
		"in time":                     {Foreign{Signatures: with(func(s *ForeignSignature) { s.At = noon }, "later")}, Policy{}, "verified"},
		"too early":                   {Foreign{Signatures: with(func(s *ForeignSignature) { s.At = noon.Add(-1) }, "later")}, Policy{}, "refuted key_not_yet_valid"},
		"required time":               {Foreign{Signatures: by("later")}, Policy{At: noon}, "verified"},
		"one of two":                  {Foreign{Signatures: by("unknown", "good")}, Policy{}, "verified"},
		"one of two, all":             {Foreign{Signatures: by("unknown", "good"), All: true}, Policy{}, "undecided unknown_key"},
		"one invalid":                 {Foreign{Signatures: by("good", "bad")}, Policy{}, "refuted signature_invalid"},
		"one not counted":             {Foreign{Signatures: append(by("good"), with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")...)}, Policy{}, "verified"},
		"one not counted, all":        {Foreign{Signatures: append(by("good"), with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")...), All: true}, Policy{}, "refuted issuer_mismatch"},
		"most":                        {Foreign{Signatures: many[1:]}, Policy{}, "verified"},
		"too many":                    {Foreign{Signatures: many}, Policy{}, "undecided signature_limit"},
		"many, all":                   {Foreign{Signatures: many, All: true}, Policy{}, "verified"},
		"many, all, last is invalid":  {Foreign{Signatures: append(slices.Clone(many), by("bad")...), All: true}, Policy{}, "refuted signature_invalid"},
		"witnesses":                   {Foreign{Signatures: by("good")}, Policy{Witnesses: Quorum{Threshold: 1}}, "undecided threshold_not_met"},
		"cosigners":                   {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: 1}}}, "undecided checkpoint_required"},
		"checkpoint":                  {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Checkpoint: CheckpointRule{Required: true}}, "verified"},
		"no checkpoint":               {Foreign{Signatures: by("good")}, Policy{Checkpoint: CheckpointRule{Required: true}}, "undecided checkpoint_required"},
		"link":                        {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeLinkNotChecked)}, Policy{}, "verified"},
		"link, strict":                {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeLinkNotChecked)}, Policy{Strict: true}, "undecided link_not_checked"},
		"link, another code":          {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeBatchNotChecked)}, Policy{}, "undecided batch_not_checked"},
		"batch":                       {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeBatchNotChecked)}, Policy{}, "verified"},
		"batch, strict":               {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeBatchNotChecked)}, Policy{Strict: true}, "undecided batch_not_checked"},
		"batch, another code":         {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeLinkNotChecked)}, Policy{}, "undecided link_not_checked"},
		"included":                    {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Strict: true}, "verified"},
		"unknown log":                 {Foreign{Signatures: by("good"), Inclusions: by("unknown")}, Policy{}, "verified"},
		"unknown log, strict":         {Foreign{Signatures: by("good"), Inclusions: by("unknown")}, Policy{Strict: true}, "undecided batch_not_checked"},
		"unknown log, all":            {Foreign{Signatures: by("good"), Inclusions: by("unknown"), All: true}, Policy{}, "undecided unknown_key"},
		"one of two logs":             {Foreign{Signatures: by("good"), Inclusions: by("unknown", "log"), All: true}, Policy{}, "verified"},
		"log without the role":        {Foreign{Signatures: by("good"), Inclusions: by("good")}, Policy{}, "undecided role_mismatch"},
		"log, unsure":                 {Foreign{Signatures: by("good"), Inclusions: with(unsure, "bad")}, Policy{}, "undecided unknown_key"},
		"log, invalid":                {Foreign{Signatures: by("good"), Inclusions: by("bad")}, Policy{}, "refuted proof_invalid"},
		"hash":                        {Foreign{Signatures: by("good"), Checks: check(StepHash, StatusFailed, CodeHashMismatch)}, Policy{}, "refuted hash_mismatch"},
		"hash, not checked":           {Foreign{Signatures: by("good"), Checks: check(StepHash, StatusNotChecked, CodeStepNotReached)}, Policy{}, "undecided step_not_reached"},
		"integrity":                   {Foreign{Checks: check(StepHash, StatusPassed, "")}, Policy{IntegrityOnly: true}, "verified"},
		"integrity, no hash":          {Foreign{Signatures: by("good")}, Policy{IntegrityOnly: true}, "undecided signatures_not_checked"},
		"integrity, in a log":         {Foreign{Checks: check(StepHash, StatusPassed, ""), Inclusions: by("bad")}, Policy{IntegrityOnly: true}, "verified"},
	} {
		var given Trust = trust
		if c.policy.IntegrityOnly {
			given = nil
		}
		v, err := NewVerifier(given, c.policy)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var rep Report
		v.Foreign([]byte("{}"), &c.f, &rep)
		got := rep.Verdict.String()
		if rep.Verdict != Verified && rep.Finding().Code != "" {
			got += " " + string(rep.Finding().Code)
		}
		if got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// TestForeignUnsigned verifies that the signatures of an unsigned receipt are not reached if an
// earlier step has failed or could not parse the receipt.
func TestForeignUnsigned(t *testing.T) {
	v, err := NewVerifier(rawTrust{}, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		checks []Check
		want   Code
		noted  int // notes about what was not checked
	}{
		"no check": {nil, CodeUnsigned, 1},
		"failed":   {[]Check{{Step: StepHash, Status: StatusFailed, Code: CodeHashMismatch}}, CodeStepNotReached, 1},
		"unparsed": {[]Check{{Step: StepParse, Status: StatusNotChecked, Code: CodeSyntax}}, CodeStepNotReached, 2},
	} {
		var rep Report
		v.Foreign(nil, &Foreign{Checks: c.checks}, &rep)
		if got := rep.Check(StepSignatures); got.Code != c.want || got.Status != StatusNotChecked || len(rep.NotChecked) != c.noted {
			t.Errorf("%s: %+v, %v", name, got, rep.NotChecked)
		}
	}
}

// TestForeignSignatures verifies that a report lists the signatures, and that it lists equal results
// once if all signatures are required.
func TestForeignSignatures(t *testing.T) {
	trust := rawTrust{check: func(s *ForeignSignature) (*Key, *SignatureError) {
		return &Key{ID: "key " + s.KeyID, Issuers: []string{"i"}}, nil
	}}
	v, err := NewVerifier(trust, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	sign := func(id string) ForeignSignature {
		return ForeignSignature{KeyID: id, Issuer: "i", Messages: [][]byte{nil}}
	}
	for all, want := range map[bool]string{false: "key a, key a, key b", true: "key a, key b"} {
		var rep Report
		v.Foreign(nil, &Foreign{Signatures: []ForeignSignature{sign("a"), sign("a"), sign("b")}, All: all}, &rep)
		var got []string
		for _, s := range rep.Signatures {
			got = append(got, s.KeyID)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("all %t: %q, expected %s", all, got, want)
		}
	}
}

// TestForeignTrust verifies that keys that cannot check third-party receipts are unknown.
func TestForeignTrust(t *testing.T) {
	v := &Verifier{trust: struct{ Trust }{}}
	if key, err := (foreignStep{v}).checkRaw(&ForeignSignature{Messages: [][]byte{nil}}); key != nil || err.Code != CodeUnknownKey {
		t.Errorf("%v, %v", key, err)
	}
}
