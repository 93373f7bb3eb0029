package source_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A counted log is a log together with the facts that a program in another language found in it.
type counted struct {
	Kind, Log string
	Facts     struct {
		Session       *string
		Calls         map[string]string
		Input, Output *int64
		Cost          *float64
		Writes        [][4]string // name, operation, and the content before and after the write
		End           *string
		Hosts         []string
		Approvals     []string
	}
}

var generated = flag.Int("generated", 0, "logs of each kind that TestCount generates (default: 100, or more with CI set)")

// TestCount compares drafts with the counts of another program. It uses generated logs and all
// public logs of the kinds that the program supports.
func TestCount(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	var public []string
	for _, name := range publicLogs(t) {
		for _, kind := range []string{"copilot-cli", "opencode", "gemini-cli", "atif", "pi"} {
			if strings.Contains(name, "/"+kind+"-") {
				public = append(public, name)
			}
		}
	}
	logs := testsize.Of(100, 300, 1_000)
	for _, args := range [][]string{public, {"--generate", strconv.Itoa(cmp.Or(*generated, logs)), "1"}} {
		out, err := exec.Command("python3", append([]string{"testdata/count.py"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for d := json.NewDecoder(bytes.NewReader(out)); ; n++ {
			var c counted
			if err := d.Decode(&c); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if c.compare(t); t.Failed() {
				t.Fatalf("%s\n%.3000s", c.Kind, c.Log)
			}
		}
		if n < 16 {
			t.Errorf("%d logs", n)
		}
	}
}

func (c *counted) compare(t *testing.T) {
	t.Helper()
	got, err := source.Read([]source.Input{{Name: "log", Reader: strings.NewReader(c.Log)}}, options())
	if err != nil || string(got.Kind) != c.Kind {
		t.Fatalf("%+v, %v, want the kind %s\n%.3000s", got, err, c.Kind, c.Log)
	}
	r, f := read(t, got.Draft), c.Facts
	session := &r.Identifiers.SessionID
	if r.untold["/identifiers/session_id"] {
		session = nil
	}
	end := &r.Lifecycle.FinalState
	if r.untold["/lifecycle/final_state"] {
		end = nil
	}
	cost := &r.Cost.Total
	if r.untold["/cost/total"] {
		cost = nil
	}
	calls := map[string]string{}
	for i, x := range r.SideEffects.ToolCalls {
		calls[x.CallID] = r.status(i)
	}
	var hosts, approvals []string
	for _, e := range r.SideEffects.NetworkEgress {
		hosts = append(hosts, e.Destination)
	}
	for _, a := range r.Approvals {
		approvals = append(approvals, a.Decision)
	}
	writes := r.states()
	for i, w := range writes { // the draft withholds the name of a file outside the workspace
		if strings.HasPrefix(w[0], "(outside ") && i < len(f.Writes) {
			f.Writes[i][0] = w[0]
		}
	}
	consumed := r.AutonomyBudget.Consumed
	for what, pair := range map[string][2]any{
		"session": {session, f.Session}, "calls": {calls, f.Calls}, "input": {consumed.InputTokens, f.Input}, "output": {consumed.OutputTokens, f.Output},
		"cost": {cost, f.Cost}, "end": {end, f.End}, "writes": {writes, f.Writes},
		"hosts": {slices.Sorted(slices.Values(hosts)), slices.Sorted(slices.Values(f.Hosts))}, "approvals": {approvals, f.Approvals},
	} {
		if a, b := asText(t, pair[0]), asText(t, pair[1]); a != b && !(empty(a) && empty(b)) && !(what == "cost" && f.Cost != nil && cost != nil && fmt.Sprintf("%.9f", *cost) == fmt.Sprintf("%.9f", *f.Cost)) {
			t.Errorf("%s: %s, want %s", what, a, b)
		}
	}
}

func empty(text string) bool { return text == "null" || text == "[]" || text == "{}" }

// states returns the writes in the format that the other program uses.
func (r told) states() (all [][4]string) {
	for i, w := range r.SideEffects.FSWrites {
		before := stateOf(w.BeforeSHA256)
		if r.untold[fmt.Sprintf("/side_effects/fs_writes/%d/before_sha256", i)] {
			before = "?"
		}
		all = append(all, [4]string{base(w.Path), w.Operation, before, stateOf(w.AfterSHA256)})
	}
	return all
}
