package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestMergeEdited verifies that merge rejects an edited report if it contradicts itself.
func TestMergeEdited(t *testing.T) {
	g, dir := newMill(t).grist(), t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, data)
		return path
	}
	report := func(format string, lines ...[]byte) string {
		_, out, stderr := command(nil, "verify", "--keys", trustedKeys, "--format", format, write("in.jsonl", bytes.Join(lines, []byte("\n"))))
		if stderr != "" {
			t.Fatal(stderr)
		}
		return out
	}
	list := g.streams[0]
	altered := bytes.Replace(list[3], []byte(`"total":0`), []byte(`"total":1`), 1)
	for _, format := range []string{"json", "ndjson"} {
		good := report(format, list[:3]...)
		gap := report(format, list[0], list[1], list[3])
		forged := report(format, list[0], list[1], list[2], altered)
		unsigned := report(format, newMill(t).make("w9", "w9_0", 0, chain.Head{}).JSON())
		for _, c := range []struct{ name, text, old, new string }{
			{"twice", good, `"refuted":0,`, `"refuted":0,"refuted":0,`},
			{"twice with an escape", good, `"refuted":0,`, `"refuted":0,"refute\u0064":0,`},
			{"in capitals", good, `"refuted":0,`, `"Refuted":0,`},
			{"a fraction", good, `"verified":3,`, `"verified":3.0,`},
			{"a power", good, `"verified":3,`, `"verified":3e0,`},
			{"as text", good, `"verified":3,`, `"verified":"3",`},
			{"a member more", good, `"refuted":0,`, `"refuted":0,"note":"x",`},
			{"a count that does not add up", good, `"receipts":3,`, `"receipts":4,`},
			{"copies below zero", good, `"copies":0`, `"copies":-1`},
			{"codes of nothing", good, `"codes":{}`, `"codes":{"hash_mismatch":1}`},
			{"a code without receipts", good, `"codes":{}`, `"codes":{"hash_mismatch":0}`},
			{"another verdict", good, `"summary":{"report_version":1,"verdict":"verified"`, `"summary":{"report_version":1,"verdict":"undecided"`},
			{"not read", good, `"unreadable":[]`, `"unreadable":[{"source":"x","detail":"y"}]`},
			{"a stream less", good, `"count":3,"first_previous":null`, `"count":2,"first_previous":null`},
			{"failures of a stream", good, `"failures":0`, `"failures":1`},
			{"a report of another", good, `"report_version":1,"verdict":"verified","scope":"full","source"`, `"report_version":1,"verdict":"refuted","scope":"full","source"`},
			{"a report of nobody knows what", good, `"report_version":1,"verdict":"verified","scope":"full","source"`, `"report_version":1,"verdict":"good","scope":"full","source"`},
			{"a failed check", good, `"check":"hash","status":"passed"`, `"check":"hash","status":"failed"`},

			{"a gap said to be verified", gap, `"summary":{"report_version":1,"verdict":"refuted"`, `"summary":{"report_version":1,"verdict":"verified"`},
			{"a gap counted as verified", gap, `"verified":2,"refuted":1`, `"verified":3,"refuted":0`},
			{"a forgery counted as verified", forged, `"verified":3,"refuted":1`, `"verified":4,"refuted":0`},
			{"unsigned counted as verified", unsigned, `"verified":0,"refuted":0,"undecided":1`, `"verified":1,"refuted":0,"undecided":0`},
		} {
			edited := strings.Replace(c.text, c.old, c.new, 1)
			if edited == c.text {
				t.Fatalf("%s: %s is not in %s", c.name, c.old, c.text)
			}
			if c.text != good {
				edited = strings.Replace(edited, `"summary":{"report_version":1,"verdict":"refuted"`, `"summary":{"report_version":1,"verdict":"verified"`, 1)
				edited = strings.Replace(edited, `"summary":{"report_version":1,"verdict":"undecided"`, `"summary":{"report_version":1,"verdict":"verified"`, 1)
			}
			for name, text := range map[string]string{"all": edited, "without roster": withoutRoster(edited), "the summary": summaryOf(edited)} {
				if name == "the summary" && !strings.Contains(text, c.new) && c.text == good {
					continue // the edit changed the reports but not the summary
				}
				path := write("edited."+format, []byte(text))
				code, out, stderr := command(nil, "merge", path)
				if code != cli.ExitUsage || out != "" {
					t.Errorf("%s, %s of %s: exit %d, %q, %q", c.name, name, format, code, out, stderr)
				}
			}
		}
	}
}

// TestMergeLaundered verifies that merge rejects a report whose summary was changed to verified in
// all places, if its reports or its roster contradict the summary.
func TestMergeLaundered(t *testing.T) {
	g, dir := newMill(t).grist(), t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	list := g.streams[0]
	altered := bytes.Replace(list[3], []byte(`"total":0`), []byte(`"total":1`), 1)
	for name, lines := range map[string][][]byte{"gap": {list[0], list[1], list[3]}, "forgery": {list[0], list[1], list[2], altered}} {
		writeFile(t, in, bytes.Join(lines, []byte("\n")))
		_, out, _ := command(nil, "verify", "--keys", trustedKeys, "--format", "json", in)
		head, summary, _ := strings.Cut(out, `"summary":`)
		for _, change := range [][2]string{{`"verdict":"refuted"`, `"verdict":"verified"`}, {`"refuted":1`, `"refuted":0`}, {`"failures":1`, `"failures":0`}} {
			summary = strings.Replace(summary, change[0], change[1], 1)
		}
		summary = regexp.MustCompile(`"codes":{[^}]*}`).ReplaceAllString(summary, `"codes":{}`)
		summary = strings.Replace(strings.Replace(summary, `"verified":3`, `"verified":4`, 1), `"verified":2`, `"verified":3`, 1)
		for what, text := range map[string]string{"with reports": head + `"summary":` + withoutRoster(summary), "with the roster": strings.TrimSuffix(strings.TrimSpace(summary), "}")} {
			writeFile(t, in, text)
			if code, out, stderr := command(nil, "merge", in); code != cli.ExitUsage || !strings.Contains(stderr, "its ro") && !strings.Contains(stderr, "its reports") {
				t.Errorf("%s %s: exit %d, %q, %q", name, what, code, out, stderr)
			}
		}
	}
}

// withoutRoster removes the roster from a report, because reports from an older version have no
// roster.
func withoutRoster(text string) string {
	return regexp.MustCompile(`,"roster":{"streams":\[.*?\],"sources":\[[^]]*\](?:,"outcomes":true)?}`).ReplaceAllString(text, "")
}

func summaryOf(report string) string {
	_, summary, _ := strings.Cut(strings.TrimSpace(report), `"summary":`)
	return strings.TrimSuffix(summary, "}")
}
