package protocol

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestMembers verifies that a member of the body is read by its exact name, and that errors name
// it.
func TestMembers(t *testing.T) {
	m := muxOf(t, nil, Route{Pattern: "POST /v1/plants", Serve: func(w http.ResponseWriter, r *Request) error {
		name, err := r.RequiredText("name")
		if err != nil {
			return err
		}
		note, err := r.Text("note")
		if err != nil {
			return err
		}
		more, err := r.Object("more")
		if err != nil {
			return err
		}
		return WriteJSON(w, http.StatusCreated, fmt.Sprintf("%s|%s|%s|%t", name, note, more, more == nil))
	}})
	for body, want := range map[string]string{
		`{"name":"bean"}`: `"bean|||true"`,
		`{"name":"bean","note":"\u00e9","more":{"n":1.50}}`: `"bean|é|{\"n\":1.50}|false"`,
		`{"name":"bean","note":null,"more":null}`:           `"bean|||true"`,
		`{"Name":"bean"}`:            "name",
		`{"name":""}`:                "name",
		`{"name":1}`:                 "name",
		`{"name":"bean","note":[]}`:  "note",
		`{"name":"bean","more":"m"}`: "more",
	} {
		got := ask(m, "POST", "/v1/plants", body, VersionHeader, Version)
		if strings.HasPrefix(want, `"`) && got.body != want+"\n" || !strings.HasPrefix(want, `"`) && (got.status != 400 || !strings.Contains(got.body, `"param":"`+want+`"`)) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

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
