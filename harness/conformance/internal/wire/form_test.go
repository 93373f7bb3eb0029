package wire

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// sample returns a value of the given type.
func sample(t *testing.T, kind string) any {
	t.Helper()
	if literal, ok := strings.CutPrefix(kind, "="); ok {
		return literal
	}
	switch kind[0] {
	case '[':
		return []any{sample(t, typesOf(kind[1 : len(kind)-1])[0])}
	case '{':
		return map[string]any{"x": sample(t, kind[1:len(kind)-1])}
	}
	values := map[string]any{
		"any": true, "null": nil, "bool": false, "number": 1.5, "count": 0, "object": map[string]any{}, "text": "", "word": "x",
		"time": "2026-04-25T19:00:00Z", "digest": strings.Repeat("aB", 32),
	}
	if value, known := values[kind]; known {
		return value
	}
	if forms()[kind] == nil {
		t.Fatalf("no type %q", kind)
	}
	return instance(t, forms()[kind])
}

// instance returns an object that has every member of a component.
func instance(t *testing.T, c *component) map[string]any {
	t.Helper()
	o := map[string]any{}
	for _, m := range c.members {
		o[m.name] = sample(t, m.types[0])
	}
	return o
}

func check(t *testing.T, component string, value any) *Fault {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return CheckForm(component, doc.Root(), nil)
}

// TestForms verifies, for all members of all components, that CheckForm detects a missing required
// member and a value whose type is not allowed.
func TestForms(t *testing.T) {
	if len(forms()) < 35 {
		t.Fatalf("only %d components", len(forms()))
	}
	others := []any{nil, true, 1.5, -1, "", "x", "=x", []any{}, []any{nil}, map[string]any{}, map[string]any{"x": nil}}
	for name, c := range forms() {
		whole := instance(t, c)
		if f := check(t, name, whole); f != nil {
			t.Errorf("%s: %s: %s", name, f.At(), f.Text)
		}
		for _, m := range c.members {
			less := maps.Clone(whole)
			delete(less, m.name)
			if f := check(t, name, less); (f == nil) != m.optional {
				t.Errorf("%s without %s: %v", name, m.name, f)
			}
			for _, value := range others {
				other := maps.Clone(whole)
				other[m.name] = value
				if f := check(t, name, other); (f == nil) != allowed(m.types, value) {
					t.Errorf("%s with %s %#v: %v", name, m.name, value, f)
				}
			}
		}
	}
}

// allowed reports whether a plain value has one of the given types, without using CheckForm.
func allowed(types []string, value any) bool {
	for _, kind := range types {
		text, isText := value.(string)
		list, isList := value.([]any)
		members, isObject := value.(map[string]any)
		inner := strings.Trim(kind, "[]{}")
		switch {
		case kind == "any",
			kind == "null" && value == nil,
			kind == "bool" && value == true,
			kind == "number" && (value == 1.5 || value == -1),
			kind == "text" && isText, kind == "word" && text != "",
			kind == "object" && isObject,
			kind[0] == '[' && isList && (len(list) == 0 || strings.Contains(inner, "any")),
			kind[0] == '{' && isObject && len(members) == 0,
			kind == "Capabilities" && isObject: // all of its members are optional
			return true
		}
	}
	return false
}

// TestTimes verifies that only RFC 3339 times in UTC are accepted.
func TestTimes(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-04-25T19:00:00Z": true, "2026-04-25T19:00:00.123Z": true, "2026-04-25T19:00:00+00:00": true, "2026-04-25t19:00:00z": true,
		"": false, "Z": false, "2026-04-25": false, "2026-04-25T19:00:00": false, "2026-04-25T19:00:00+02:00": false, "2026-02-30T19:00:00Z": false,
	} {
		if IsTime(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestRoutes verifies that the request for each route is matched to that route, and that the
// component of the response exists.
func TestRoutes(t *testing.T) {
	ids := map[string]string{}
	for _, name := range []string{"workspace", "session", "task", "message", "artifact", "event", "outcome", "receipt"} {
		ids[name] = "a/b \"c\"?"
	}
	for _, r := range Routes() {
		q, ok := r.Fill(ids)
		if _, some := r.Fill(nil); !ok || some != !strings.Contains(r.Path+r.Body, "{workspace}") && !strings.Contains(r.Path, "{") && !strings.Contains(r.Body, `"{`) {
			t.Errorf("%s %s: %v", r.Method, r.Path, q)
		}
		if found := routeOf(q); found == nil || found.Answer != r.Answer || found.Method != r.Method || found.List != r.List {
			t.Errorf("%s %s: found %+v", r.Method, r.Path, found)
		}
		if r.Answer != "" && forms()[r.Answer] == nil {
			t.Errorf("%s %s: no component %s", r.Method, r.Path, r.Answer)
		}
		if len(q.Body) > 0 && !json.Valid(q.Body) {
			t.Errorf("%s %s: %s", r.Method, r.Path, q.Body)
		}
	}
}

// TestStays verifies which changes to a resource are detected, separately for each client.
func TestStays(t *testing.T) {
	task := instance(t, forms()["Task"])
	read := func(s *Seen, key, name string, value any) {
		other := maps.Clone(task)
		other[name] = value
		text, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		a := &Answer{Request: Request{Path: "v1/tasks/x"}, Code: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: text}
		a.parse()
		s.answer(key, a)
	}
	for _, of := range []struct {
		name    string
		was, is any
		key     string
		changed bool
	}{
		{"created_at", "2026-04-25T19:00:00Z", "2026-04-25T18:59:59Z", "a", true},
		{"created_at", "2026-04-25T19:00:00Z", "2026-04-25T18:59:59Z", "b", false},
		{"updated_at", "2026-04-25T19:00:00Z", "2026-04-25T19:00:01Z", "a", false},
		{"receipt_id", nil, "r", "a", false},
		{"receipt_id", "r", nil, "a", true},
		{"receipt_id", "r", "s", "a", true},
		{"status", "WORKING", "COMPLETED", "a", false},
		{"id", "x", "y", "a", false},
	} {
		var s Seen
		read(&s, "a", of.name, of.was)
		read(&s, of.key, of.name, of.is)
		if n, fault := s.Form("Task"); n != 4 || fault != "" || (s.Changed() != "") != of.changed {
			t.Errorf("%s from %v to %v: %d, %q, %q", of.name, of.was, of.is, n, fault, s.Changed())
		}
	}
}
