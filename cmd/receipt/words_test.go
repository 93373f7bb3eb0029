package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// wordless replaces every detail and every hint in saved reports with "x".
func wordless(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out bytes.Buffer
	for d.More() {
		var tree any
		if err := d.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(unworded(tree))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

func unworded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name == "detail" || name == "hint" {
				v[name] = "x"
			} else {
				v[name] = unworded(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = unworded(v[i])
		}
	}
	return v
}

// verdictOf returns the verdict in the output of "merge --format json".
func verdictOf(t *testing.T, text string) (verdict string) {
	t.Helper()
	if text == "" {
		return ""
	}
	var answer struct {
		Verdict string
		Summary struct{ Verdict string }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return answer.Verdict + answer.Summary.Verdict
}

// TestWordsDecideNothing verifies that verdicts, exit codes, predecessors, and heads do not depend
// on details and hints: replacing them in saved reports changes nothing else.
func TestWordsDecideNothing(t *testing.T) {
	m := newMill(t)
	g, dir := m.grist(), t.TempDir()
	list := g.streams[0]
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}

	exits := map[int]int{}
	for _, format := range []string{"json", "ndjson"} {
		told, mute := map[string]string{}, map[string]string{}
		for name, lines := range map[string][][]byte{
			"begin":    list[:2],
			"end":      list[2:],
			"overlap":  list[1:],
			"gap":      {list[0], list[2]},
			"altered":  {list[0], bytes.Replace(list[1], []byte(`"total":0`), []byte(`"total":1`), 1)},
			"unsigned": {m.make("w9", "w9_0", 0, chain.Head{}).JSON()},
			"cut off":  {list[0], list[1][:200]},
		} {
			_, out, _ := command(nil, "verify", "--keys", trustedKeys, "--format", format, write("in.jsonl", string(bytes.Join(lines, []byte("\n")))))
			told[name], mute[name] = write(name+"."+format, out), write(name+"-mute."+format, wordless(t, out))
		}

		same := func(what string, args func(of map[string]string) []string) {
			t.Helper()
			code, out, _ := command(nil, args(told)...)
			again, other, stderr := command(nil, args(mute)...)
			if exits[code]++; again != code {
				t.Errorf("%s, %s: exit %d, without words %d\n%s", format, what, code, again, stderr)
			}
			if slices.Contains(args(told), "json") && verdictOf(t, out) != verdictOf(t, other) {
				t.Errorf("%s, %s: %s\nwithout words %s", format, what, out, other)
			}
		}

		rest := write("rest.jsonl", string(bytes.Join(list[2:], []byte("\n"))))
		names := slices.Sorted(maps.Keys(told))
		for i, one := range names {
			for _, merged := range []string{"text", "json"} {
				same("merge "+one, func(of map[string]string) []string { return []string{"merge", "--format", merged, of[one]} })
				for _, two := range names[i+1:] {
					same("merge "+one+" and "+two, func(of map[string]string) []string { return []string{"merge", "--format", merged, of[one], of[two]} })
				}
			}
			for _, flag := range []string{"--previous", "--expect-head"} {
				same("verify "+flag+" "+one, func(of map[string]string) []string {
					return []string{"verify", "--keys", trustedKeys, "--format", "json", flag, of[one], rest}
				})
			}
		}
	}
	for _, code := range []int{cli.ExitVerified, cli.ExitRefuted, cli.ExitUndecided} {
		if exits[code] == 0 {
			t.Errorf("nothing ended with %d: %v", code, exits)
		}
	}
}
