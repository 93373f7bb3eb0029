package event

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// TestMembersText verifies that members are written in the order specified by RFC 8785, and that
// members without a value are omitted.
func TestMembersText(t *testing.T) {
	m := Members{
		"e": "", "d": "4", "c": Members{"z": true, "y": int64(0), "x": false}, "b": []string{"2", "1"}, "a": (*int64)(nil), "g": canon.Node{}, "f": []Members{{"h": Raw("null")}}, "i": "9",
	}
	const want = `{"b":["2","1"],"c":{"y":0,"z":true},"d":"4","f":[{"h":null}],"i":"9"}`
	if got := string(m.Text()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
