package bridge

import (
	"encoding/json"
	"testing"
)

// TestPermission: only an answer that clearly says so lets a call be made.
func TestPermission(t *testing.T) {
	const options = `,"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]`
	for _, test := range []struct{ options, answer, decision, args string }{
		{"", `"result":{"outcome":{"outcome":"selected"}}`, "approved", ""},
		{"", `"result":{"outcome":"allow"}`, "approved", ""},
		{"", `"result":{"granted":true}`, "approved", ""},
		{"", `"result":{"granted":true,"args":{"path":"b"}}`, "approved", `{"path":"b"}`},
		{"", `"result":{"granted":true,"args":null}`, "approved", ""},
		{options, `"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`, "approved", ""},

		{options, `"result":{"outcome":{"outcome":"selected","optionId":"reject"}}`, "denied", ""},
		{options, `"result":{"outcome":{"outcome":"selected","optionId":"other"}}`, "denied", ""},
		{options, `"result":{"outcome":{"outcome":"selected"}}`, "denied", ""},
		{options, `"result":{"granted":true}`, "denied", ""},
		{options, `"result":{"outcome":"allow"}`, "denied", ""},
		{options, `"result":{"outcome":{"outcome":"cancelled"}}`, "canceled", ""},
		{"", `"result":{"granted":false,"reason":"not today","args":{}}`, "denied", ""},
		{"", `"result":{"granted":"true"}`, "denied", ""},
		{"", `"result":{"granted":true},"error":{"code":1,"message":"no"}`, "denied", ""},
		{"", `"result":null`, "denied", ""},
		{"", `"result":{}`, "denied", ""},
		{"", `"result":true`, "denied", ""},
		{"", `"error":{"code":-32601,"message":"what is that?"}`, "denied", ""},
	} {
		m, fault := parse([]byte(`{"jsonrpc":"2.0","id":1,` + test.answer + `}`))
		if fault != nil {
			t.Fatal(fault)
		}
		p := decided(m, json.RawMessage(`{"sessionId":"s","toolCall":{"toolCallId":"c"}`+test.options+`}`))
		if p.Decision != test.decision || p.Granted != (test.decision == "approved") || string(p.Args) != test.args || (p.Reason == "") != p.Granted {
			t.Errorf("%s%s: %+v", test.answer, test.options, p)
		}
	}
	for reason, answer := range map[string]string{
		"not today": `"result":{"granted":false,"reason":"not today"}`, "what?": `"error":{"code":-32601,"message":"what?"}`, "host did not grant approval": `"result":7`,
	} {
		m, _ := parse([]byte(`{"jsonrpc":"2.0","id":1,` + answer + `}`))
		if p := decided(m, struct{}{}); p.Reason != reason || p.Granted {
			t.Errorf("%s: %+v", answer, p)
		}
	}
}
