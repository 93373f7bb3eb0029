package record_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// newWorld creates a task from some of the episodes. The seed determines the world.
func newWorld(seed uint64, bridge bool) *world {
	a := &author{Rand: rand.New(rand.NewPCG(seed, 0))}
	w := &world{seed: seed, bridge: bridge, end: oneOf(a, completed, completed, failed, canceled)}
	of := eventEpisodes()
	if bridge {
		of = frameEpisodes()
	}
	for range 1 + a.IntN(8) {
		w.episodes = append(w.episodes, oneOf(a, of...)(a))
	}
	return w
}

func worldOptions() record.Options {
	return record.Options{Issuer: receipt.Issuer{ID: "i"}, TaskID: "t", SessionID: "s", WorkspaceRef: "w", Tier: "act_auto"}
}

// log returns the log of the world.
func (w *world) log() []byte {
	a := &author{Rand: rand.New(rand.NewPCG(w.seed, 1))} // changes during delivery
	if w.bridge {
		return w.frames(a)
	}
	return w.events(a)
}

// check records the log of a world, and compares the draft with the ledger. It returns "" if they
// agree, or if the log was rejected for an acceptable reason.
func (w *world) check() string {
	l, err := record.Read(bytes.NewReader(w.log()), worldOptions(), record.FormUnknown)
	switch {
	case err != nil && w.refusal() == never:
		return "refused: " + err.Error()
	case err != nil:
		return ""
	case w.refusal() == always:
		return "expected a refusal"
	}
	return strings.Join(w.ledger().compare(l.Draft), "\n")
}

// howMany returns how many worlds of each form to test.
func howMany() uint64 { return uint64(testsize.Of(500, 2_500, 10_000)) }

// eachWorld checks worlds. If some are faulty, it prints a few of them, reduced to the episodes
// that are needed to reproduce the fault.
func eachWorld(t *testing.T, bridge bool) {
	t.Helper()
	check := func(w *world) string { return w.check() }
	shown := map[string]bool{}
	refused, faults := 0, 0
	for seed := range howMany() {
		w := newWorld(seed, bridge)
		fault := check(w)
		if w.refusal() != never {
			refused++
		}
		if fault == "" {
			continue
		}
		faults++
		if len(shown) > 20 {
			continue
		}
		small := w.shrunk(check)
		if name := small.String(); !shown[name[strings.Index(name, ":"):]] {
			shown[name[strings.Index(name, ":"):]] = true
			t.Errorf("%s\n%s\n%s", small, check(small), small.log())
		}
	}
	t.Logf("%d worlds, of which %d may be refused; %d faults", howMany(), refused, faults)
}

// TestOnlyWhatEventsSay verifies that the draft for a log of events contains exactly the facts.
func TestOnlyWhatEventsSay(t *testing.T) { eachWorld(t, false) }

// TestNothingIsLost verifies that a log is rejected if a line of the task is missing, or if a
// repeated line differs.
func TestNothingIsLost(t *testing.T) {
	for seed := range howMany() / 10 {
		w := newWorld(seed, false)
		if w.refusal() != never {
			continue
		}
		a := &author{Rand: rand.New(rand.NewPCG(seed, 3))}
		var own [][]byte
		lines := bytes.SplitAfter(w.log(), []byte("\n"))
		for i, line := range lines {
			if bytes.Contains(line, []byte(`"task_id":"t"`)) && i+2 < len(lines) && bytes.Count(w.log(), line) == 1 {
				own = append(own, line)
			}
		}
		if len(own) == 0 {
			continue
		}
		one := oneOf(a, own...)
		lost := bytes.Replace(w.log(), one, nil, 1)
		changed := bytes.Replace(w.log(), one, append(bytes.Clone(one), bytes.Replace(one, []byte(`"payload":{`), []byte(`"payload":{"x":1,`), 1)...), 1)
		for name, log := range map[string][]byte{"without a line": lost, "with a line that is another the second time": changed} {
			if name != "without a line" && bytes.Contains(one, []byte(`"payload":{}`)) {
				continue
			}
			if l, err := record.Read(bytes.NewReader(log), worldOptions(), record.FormEvents); err == nil {
				t.Fatalf("seed %d, %s: a draft of %d events\n%s\n%s", seed, name, l.Counts.Events, one, log)
			}
		}
	}
}
