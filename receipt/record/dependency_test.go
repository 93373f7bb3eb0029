package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestDependencies verifies that the dependencies of a task are the materials in its draft and the
// clock. Each dependency must refer to its event and to the location of the answer in that event.
func TestDependencies(t *testing.T) {
	for _, s := range scenarios() {
		if s.name == "replay" { // this log contains answers that belong to another task
			continue
		}
		rec, err := record.New(s.options())
		if err != nil {
			t.Fatal(err)
		}
		lines := s.lines(t)
		for _, line := range lines {
			if err := rec.Add(line); err != nil {
				t.Fatal(err)
			}
		}
		d, err := rec.Draft()
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, m := range d.ReplayInput.Materials[1:] {
			if m.Kind == "event_log" { // the log itself is a material but not an answer
				continue
			}
			want = append(want, m.Kind+" "+m.ID+" "+m.SHA256.String())
		}
		last, clock := 0, 0
		for _, x := range rec.Dependencies() {
			if x.Index < last {
				t.Errorf("%s: %s comes after a later one", s.name, x.Key)
			}
			last = x.Index
			if x.Kind == record.KindTime {
				clock++
			} else {
				got = append(got, x.Kind+" "+x.Key+" "+x.SHA256.String())
			}
			toldThere(t, lines[x.Index-1], x)
		}
		if slices.Sort(want); !slices.Equal(want, slices.Sorted(slices.Values(got))) || clock < 2 {
			t.Errorf("%s: %d times, and\n%s\nwant\n%s", s.name, clock, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if rec.Digest() != d.ReplayInput.Materials[0].SHA256 || rec.TaskID() != d.Identifiers.TaskID || rec.IsReplay() {
			t.Errorf("%s: another log", s.name)
		}
	}
}

// toldThere verifies that the answer is at the location that the dependency states.
func toldThere(t *testing.T, line []byte, x record.Dependency) {
	t.Helper()
	doc, err := canon.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if id := doc.Root().Member("id").String(); id != x.EventID {
		t.Errorf("%s: the event %s, want %s", x.Key, id, x.EventID)
	}
	if x.Pointer == "" {
		return
	}
	at, err := canon.ParsePointer(x.Pointer)
	if err != nil {
		t.Fatal(err)
	}
	if n, found := doc.Find(at); !found || canon.Sum(n.AppendCanonical(nil)) != x.SHA256 {
		t.Errorf("%s: %s is not there, or another", x.Key, x.Pointer)
	}
}
