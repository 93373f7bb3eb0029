package protocol

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestCard verifies that the two forms of the card differ only in their discriminator and in the
// name of one member.
func TestCard(t *testing.T) {
	for as, interfaces := range map[string]int{"harn_agent_card": 0, "agent_card": 1} {
		skill := Skill{ID: "s", Name: "n", Description: "d", Tags: []string{"t"}}
		c := Card{ID: "id", Name: "name", Description: "about", Since: receipt.At(noon()), Transports: []string{"rest", "sse"}, Input: []string{"a/b"}, Output: []string{"c/d"},
			Skills: []Skill{skill}, Runner: as == "agent_card"}
		text, err := receipt.AppendJSON(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), `"interfaces":[{"transport":"rest","url":"/v1"},{"transport":"sse","url":"/v1"}]`); n != interfaces {
			t.Errorf("%s: %s has %d lists of interfaces", as, text, n)
		}
		const own = `"id":"s","name":"n","description":"d","tags":["t"]`
		const at = `"2026-11-01T12:00:00Z"`
		for _, want := range []string{
			`"object":"` + as + `","created_at":` + at, `"harn_interfaces":[{"transport":"rest","url":"/v1"},{"transport":"sse","url":"/v1"}]`,
			`"protocol_version":"` + Version + `"`, `"streaming":true`, `"capabilities":[],"auth_schemes":[]}`,
			`"skills":[{` + own + `}]}`, // of A2A
			`"skills":[{` + own + `,"object":"skill","created_at":` + at + `,"updated_at":` + at + `,"metadata":{},"input_schema":null,"output_schema":null}]`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %s does not have %s", as, text, want)
			}
		}
	}
}
