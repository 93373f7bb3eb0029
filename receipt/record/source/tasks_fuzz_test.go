package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// FuzzTasks verifies that each byte of two logs belongs to at most one task, that no two tasks have
// the same ID, and that no span extends beyond its log.
func FuzzTasks(f *testing.F) {
	for _, name := range []string{"session.jsonl", "agent-a1b2.jsonl", "rollout.jsonl", "stream.jsonl", "exec.jsonl", "spans.json", "events.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text, true)
		f.Add(text, text[:len(text)/2], false)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, apart bool) {
		if len(a)+len(b) > 1<<18 {
			return
		}
		var logs []*outlined
		for n, text := range [][]byte{a, b} {
			o, err := source.Survey(source.Input{Name: []string{"a.jsonl", "b.jsonl"}[n], Reader: bytes.NewReader(text)}, "")
			if err != nil {
				continue
			}
			if o.Bytes != int64(len(text)) {
				t.Fatalf("%d bytes of %d", o.Bytes, len(text))
			}
			logs = append(logs, &outlined{o, text})
		}

		ids := map[string]bool{}
		taken := map[*source.Outline][]bool{}
		for _, task := range tasks(logs, apart) {
			if name := string(task.Parts[0].Log.Kind) + task.ID; ids[name] || task.ID == "" {
				t.Errorf("the ID %q is used twice", task.ID)
			} else {
				ids[name] = true
			}
			for _, p := range task.Parts {
				if taken[p.Log] == nil {
					taken[p.Log] = make([]bool, p.Log.Bytes)
				}
				at := int64(0)
				for _, s := range p.Spans {
					if s.From < at || s.Until <= s.From || s.Until > p.Log.Bytes {
						t.Fatalf("the span %v of %d bytes after byte %d", s, p.Log.Bytes, at)
					}
					for at = s.From; at < s.Until; at++ {
						if taken[p.Log][at] {
							t.Fatalf("byte %d is of two tasks", at)
						}
						taken[p.Log][at] = true
					}
				}
				for _, s := range p.Aside {
					if s.Until <= s.From || s.Until > p.Log.Bytes {
						t.Fatalf("the span %v of %d bytes", s, p.Log.Bytes)
					}
				}
			}
		}
	})
}
