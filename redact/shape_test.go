package redact_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/schemas"
)

// pointers returns the pointers to all values in a document except the root.
func pointers(n canon.Node, at string, list []string) []string {
	if at != "" {
		list = append(list, at)
	}
	for name, v := range n.Members() {
		list = pointers(v, string(canon.AppendToken([]byte(at), name.String())), list)
	}
	for i, v := range n.Elements() {
		list = pointers(v, at+"/"+strconv.Itoa(i), list)
	}
	return list
}

// TestEveryPlace verifies that each value in a receipt that has all members can be withheld
// separately. The only exceptions are required values with a fixed form, and protected values. In
// all other cases, the result must be valid.
func TestEveryPlace(t *testing.T) {
	s := receiptSchema(t)
	text := fullDraft(t)
	if p := problems(t, s, []byte(text)); p != "" {
		t.Fatal(p)
	}
	d := parse(t, text)
	all := pointers(d.Root(), "", nil)
	if len(all) < 200 {
		t.Fatalf("%d places", len(all))
	}
	for _, at := range all {
		want := expect(t, d, at)
		p, err := redact.Rules{Pointers: []string{at}}.Compile()
		var rule *redact.RuleError
		if errors.As(err, &rule) {
			if want != rule.Code {
				t.Errorf("%s: %v, want %q", at, err, want)
			}
			continue
		}
		r, err := p.Redact(d, newSalts())
		var refused *redact.RefusedError
		switch {
		case errors.As(err, &refused):
			if got := refused.Problems[0]; got.Code != want || got.Pointer != at || refused.Total != 1 {
				t.Errorf("%s: %v, want %q", at, err, want)
			}
			continue
		case err != nil || want != "":
			t.Errorf("%s: %v, want %q", at, err, want)
			continue
		}
		if p := problems(t, s, r.Draft.Source()); p != "" {
			t.Errorf("%s: %s", at, p)
		}
		value, _ := d.Find(pointer(t, at))
		if left, ok := parse(t, string(r.Draft.Source())).Find(pointer(t, at)); value.Kind() == canon.KindNull {
			if len(r.Entries) != 0 {
				t.Errorf("%s: null is withheld", at)
			}
		} else if len(r.Entries) == 0 || ok && string(left.AppendCanonical(nil)) == string(value.AppendCanonical(nil)) {
			t.Errorf("%s: not withheld; entries %s", at, fields(r))
		} else if find(r, at) == nil {
			t.Errorf("%s: no entry among %s", at, fields(r))
		}
		again(t, p, r)
	}
}

// TestProtected verifies that the protected values are the protected members, the values in them,
// and the values that contain them.
func TestProtected(t *testing.T) {
	for at, want := range map[string]bool{
		"": true, "/schema": true, "/issuer/name": true, "/chain/receipt_hash": true, "/identifiers/": true, "/lifecycle": true, "/lifecycle/final_state": true,
		"/lifecycle/final_state/x": true, "/": false, "/schem": false, "/schemas": false, "/subject2/id": false, "/lifecycle/": false, "/lifecycle/final": false,
		"/lifecycle/final_states": false, "/lifecycle/started_at": false, "/life": false, "/metadata": false, "/metadata/schema": false, "/metadata/issuer/name": false,
	} {
		if got := redact.Protected([]byte(at)); got != want {
			t.Errorf("%q: %v, want %v", at, got, want)
		}
	}
}

func pointer(t testing.TB, text string) canon.Pointer {
	t.Helper()
	p, err := canon.ParsePointer(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func find(r *redact.Result, field string) *redact.Entry {
	for i := range r.Entries {
		if r.Entries[i].Field == field {
			return &r.Entries[i]
		}
	}
	return nil
}

// again verifies that redacting the result a second time changes nothing.
func again(t testing.TB, p *redact.Policy, r *redact.Result) {
	t.Helper()
	second := redacted(t, p, string(r.Draft.Source()))
	if string(second.Draft.Source()) != string(r.Draft.Source()) || len(second.Entries) != 0 || len(second.Disclosures.Fields) != 0 {
		t.Errorf("redacted again: %s\n%s\nfirst\n%s", fields(second), second.Draft.Source(), r.Draft.Source())
	}
	if found := p.Find(parse(t, string(r.Draft.Source()))); len(found) != 0 {
		t.Errorf("found in the result: %v", found)
	}
}

// expect uses the schema to predict the result of withholding a value.
func expect(t *testing.T, d *canon.Document, at string) redact.Code {
	t.Helper()
	for _, p := range []string{"/schema", "/receipt_id", "/subject", "/issuer", "/issued_at", "/identifiers", "/chain", "/lifecycle/final_state", "/redactions"} {
		if at == p || strings.HasPrefix(at, p+"/") || strings.HasPrefix(p, at+"/") {
			return redact.CodeProtectedField
		}
	}
	var root map[string]any
	source, _ := schemas.Source(schemas.Receipt)
	if err := json.Unmarshal(source, &root); err != nil {
		t.Fatal(err)
	}
	tokens := strings.Split(at, "/")[1:]
	node, required := root, true
	for _, token := range tokens {
		if node["properties"] == nil && node["items"] == nil {
			return "" // the value is in an open object
		}
		if items, ok := node["items"].(map[string]any); ok {
			node, required = resolve(root, items), true
			continue
		}
		required = false
		names, _ := node["required"].([]any)
		for _, name := range names {
			required = required || name == token
		}
		node = resolve(root, node["properties"].(map[string]any)[token].(map[string]any))
	}
	if !required || hideable(root, node) {
		return ""
	}
	return redact.CodeSchemaBreak
}

func resolve(root, node map[string]any) map[string]any {
	for {
		ref, ok := node["$ref"].(string)
		if !ok {
			return node
		}
		node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
}

// hideable reports whether a schema accepts a value that has no content. Such values are any
// string, an empty list, and an object whose required members accept values without content.
func hideable(root, node map[string]any) bool {
	switch node["type"] {
	case "string":
		return node["enum"] == nil && node["format"] == nil && node["pattern"] == nil && node["const"] == nil
	case "array":
		return node["minItems"] == nil
	case "object":
		names, _ := node["required"].([]any)
		for _, name := range names {
			if !hideable(root, resolve(root, node["properties"].(map[string]any)[name.(string)].(map[string]any))) {
				return false
			}
		}
		return node["anyOf"] == nil
	}
	return false
}
