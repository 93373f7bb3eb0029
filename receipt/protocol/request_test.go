package protocol

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestCard verifies that the dialects differ in their discriminator and in the name of one member.
func TestCard(t *testing.T) {
	for as, interfaces := range map[Dialect]int{DialectOpenAPI: 0, DialectRunner: 2} {
		skill := Skill{ID: "s", Name: "n", Description: "d", Tags: []string{"t"}}
		c := NewCard(as, "id", "name", "about", receipt.At(noon()), []string{"rest", "sse"}, []string{"a/b"}, []string{"c/d"}, skill)
		if c.Object != as || len(c.Interfaces) != interfaces || len(c.HarnInterfaces) != 2 || !c.A2ACard.Capabilities.Streaming || c.ProtocolVersion != Version {
			t.Errorf("%s: %+v", as, c)
		}

		text, err := receipt.AppendJSON(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		const own = `"id":"s","name":"n","description":"d","tags":["t"]`
		const at = `"2026-11-01T12:00:00Z"`
		for _, want := range []string{
			`"skills":[{` + own + `}]}`, // of A2A
			`"skills":[{` + own + `,"object":"skill","created_at":` + at + `,"updated_at":` + at + `,"metadata":{},"input_schema":null,"output_schema":null}]`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %s does not have %s", as, text, want)
			}
		}
	}
}
