package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// typed returns functions that replace the types in a line of a log: the type of the frame or
// event, and the types of its parts.
func typed(line map[string]any) (places []func(string)) {
	set := func(of map[string]any, name string) {
		if _, is := of[name].(string); is {
			places = append(places, func(to string) { of[name] = to })
		}
	}
	object := func(of any, name string) map[string]any {
		o, _ := of.(map[string]any)
		inner, _ := o[name].(map[string]any)
		return inner
	}

	frame := line
	if f := object(line, "frame"); f != nil {
		frame = f
	}
	set(frame, "method")
	set(line, "event")
	if kind, _ := line["event"].(string); len(kind) > 5 && kind[:5] == "span." {
		set(object(line, "payload"), "kind")
	}

	params := object(frame, "params")
	set(params, "kind")
	update := object(params, "update")
	set(update, "sessionUpdate")
	for _, of := range []map[string]any{update, object(params, "toolCall")} {
		blocks, _ := of["content"].([]any)
		for _, b := range blocks {
			if block, is := b.(map[string]any); is {
				set(block, "type")
			}
		}
	}
	return places
}

// amounts returns the length of each list in a draft, and each sum.
func amounts(t *testing.T, d *receipt.Draft) map[string]float64 {
	t.Helper()
	text, err := record.JSON(d)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}

	all := map[string]float64{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			all[at] = float64(len(v))
		case map[string]any:
			for name, value := range v {
				walk(at+"/"+name, value)
			}
		case float64:
			all[at] = v
		}
	}
	for _, name := range []string{"side_effects", "approvals", "final_artifacts", "deltas", "redactions", "cost", "replay_input", "autonomy_budget"} {
		walk("/"+name, whole[name])
	}
	meta, _ := whole["metadata"].(map[string]any)
	for _, name := range []string{"memory_writes", "not_dispatched"} {
		walk("/metadata/"+name, meta[name])
	}
	return all
}

// named returns the locations in one of the lists in the metadata.
func named(d *receipt.Draft, name string) map[string]bool {
	all := map[string]bool{}
	list, _ := d.Metadata[name].([]any)
	for _, at := range list {
		all[fmt.Sprint(at)] = true
	}
	return all
}

// TestUnreadTypes replaces each type in the logs of testdata, one at a time, with an unknown type.
// These are the types of frames, of events, and of their parts. The test verifies that a list or
// count that becomes smaller in the draft is marked as unreported or as a lower bound.
func TestUnreadTypes(t *testing.T) {
	known := strings.NewReplacer(`"vendor.example.frost_warning"`, `"session.message_appended"`, `"source.unread"`, `"session.message_appended"`,
		`"not_of_any_dialect"`, `"log"`, `"new-kind": 3`, ``, `"new-kind":3`, ``, `"method": "builtin_call", "params": {}`, `"method": "initialize", "params": {}`)
	tried, recorded, smaller := 0, 0, 0
	for _, s := range scenarios() {
		for _, form := range []string{".frames.jsonl", ".jsonl"} {
			text := known.Replace(string(s.read(t, form)))
			if d := read(t, s.options(), []byte(text), record.FormUnknown).Draft; d.Metadata["ignored_records"] != nil {
				t.Fatalf("%s%s: unread are %v", s.name, form, d.Metadata["ignored_records"])
			}
			before := amounts(t, read(t, s.options(), []byte(text), record.FormUnknown).Draft)
			lines := bytes.Split(bytes.TrimSpace([]byte(text)), []byte("\n"))
			for i := range lines {
				for place := 0; ; place++ {
					line := map[string]any{}
					if err := json.Unmarshal(lines[i], &line); err != nil {
						t.Fatal(err)
					}
					types := typed(line)
					if place == len(types) {
						break
					}
					types[place]("moonwalk")
					changed, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}

					tried++
					log := bytes.Join([][]byte{bytes.Join(lines[:i], []byte("\n")), changed, bytes.Join(lines[i+1:], []byte("\n"))}, []byte("\n"))
					l, err := record.Read(bytes.NewReader(bytes.TrimSpace(log)), s.options(), record.FormUnknown)
					if err != nil { // no claim
						continue
					}
					recorded++
					after, least, untold := amounts(t, l.Draft), named(l.Draft, "at_least"), named(l.Draft, "unreported")
					for at, n := range before {
						if after[at] >= n {
							continue
						}
						smaller++
						if whole, _ := path.Split(at); !least[at] && !untold[at] && !untold[strings.TrimSuffix(whole, "/")] {
							t.Errorf("%s%s, line %d, type %d: %s was %v and is %v, and no member states that more may be missing\n%.300s", s.name, form, i+1, place, at, n, after[at], lines[i])
						}
					}
				}
			}
		}
	}
	if t.Logf("%d types replaced, %d drafts, %d lists and counts smaller", tried, recorded, smaller); recorded < 500 || smaller < 150 {
		t.Errorf("only %d drafts of %d, %d smaller", recorded, tried, smaller)
	}
}
