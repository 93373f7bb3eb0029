package record_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// FuzzRead verifies that recording never panics. If there is a draft, it can be sealed, and a
// second recording returns the same draft. Otherwise, an error is returned without a draft.
func FuzzRead(f *testing.F) {
	for _, s := range scenarios() {
		for _, suffix := range []string{".jsonl", ".frames.jsonl"} {
			lines := bytes.SplitAfter(s.read(f, suffix), []byte("\n"))
			for i := range lines { // short logs allow more mutations; FuzzSequence uses long logs
				if i%8 == 0 {
					f.Add(bytes.Join([][]byte{lines[0], lines[i]}, nil), s.task)
				}
			}
		}
	}
	f.Add(text(1, 0, "task.failed", `{"failure":{"a":[{"thinking":1},null,{"type":"thinking"}]}}`), "")
	f.Fuzz(func(t *testing.T, log []byte, task string) {
		o := record.Options{
			Issuer: receipt.Issuer{ID: "i"}, TaskID: strings.ToValidUTF8(task, "?"), Tier: "act_auto", SessionID: "session_01K0", WorkspaceRef: "w",
		}
		l, err := record.Read(bytes.NewReader(log), o, record.FormUnknown)
		if (l == nil) != (err != nil) {
			t.Fatalf("%v and %v", l, err)
		}
		if err != nil {
			known(t, err)
			return
		}
		text := asJSON(t, l.Draft)
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receipt.SealDocument(doc, chain.Head{}); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if again := read(t, o, log, l.Form); asJSON(t, again.Draft) != text {
			t.Errorf("another draft the second time\n%s", differ(asJSON(t, again.Draft), text))
		}
	})
}

// FuzzSequence records any events in any order, with payloads of any kind. It verifies that a draft
// can be sealed, that it does not count more calls than it lists, and that it does not change if
// events are delivered twice.
func FuzzSequence(f *testing.F) {
	var kinds, payloads []string
	for _, s := range scenarios() {
		for _, line := range s.lines(f) {
			doc, err := canon.Parse(line)
			if err != nil {
				f.Fatal(err)
			}
			kinds = append(kinds, doc.Root().Member("event").String())
			payloads = append(payloads, string(doc.Root().Member("payload").Raw()))
		}
	}
	for from := 0; from+8 < len(kinds); from += 8 {
		var picks []byte
		for i := from; i < from+8; i++ {
			picks = append(picks, byte(i), byte(i))
		}
		f.Add(picks, byte(2))
	}
	o := plain()
	f.Fuzz(func(t *testing.T, picks []byte, end byte) {
		events := [][]byte{text(1, 1, "task.started", `{}`)}
		for len(picks) > 1 {
			n := len(events) + 1
			events = append(events, text(n, n, kinds[int(picks[0])%len(kinds)], payloads[int(picks[1])%len(payloads)]))
			picks = picks[2:]
		}
		n := len(events) + 1
		events = append(events, text(n, n, []string{"task.failed", "task.canceled", "task.completed"}[end%3], `{}`))
		r, err := record.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := r.Add(e); err != nil {
				known(t, err)
				if d, err := r.Draft(); d != nil || err == nil {
					t.Error("a draft after an error")
				}
				return
			}
		}
		d, err := r.Draft()
		if err != nil { // some errors, such as a missing start of a replay, appear only at the end
			known(t, err)
			return
		}
		if n := *d.AutonomyBudget.Consumed.ToolCalls; n > int64(len(d.SideEffects.ToolCalls)) {
			t.Errorf("%d calls, %d are listed", n, len(d.SideEffects.ToolCalls))
		}
		var twice [][]byte
		for _, e := range events {
			twice = append(twice, e, events[0], e)
		}
		if got, want := draft(t, o, twice...), asJSON(t, d); got != want {
			t.Errorf("delivered twice: another draft\n%s", differ(got, want))
		}
	})
}

// known fails the test if callers could not identify the cause of an error by its type.
func known(t *testing.T, err error) {
	t.Helper()
	var refused *event.Error
	var missing *record.MissingError
	var invalid *receipt.InvalidError
	switch {
	case errors.As(err, &refused):
		if refused.Code == "" || refused.Detail == "" {
			t.Errorf("%#v", refused)
		}
	case errors.As(err, &missing), errors.As(err, &invalid), errors.Is(err, record.ErrNotEnded):
	case strings.HasPrefix(err.Error(), "record: "):
	default:
		t.Errorf("%T: %v", err, err)
	}
}

// FuzzOutcome verifies that a permission request is approved only by the known forms of approval.
func FuzzOutcome(f *testing.F) {
	for _, answer := range []string{
		`{"outcome":{"outcome":"selected","optionId":"allow"}}`, `{"outcome":{"outcome":"selected"}}`, `{"outcome":"allow"}`, `{"granted":true}`,
		`{"granted":true,"args":{}}`, `{"outcome":{"outcome":"cancelled"}}`, `null`, `[]`,
	} {
		f.Add(answer, true)
		f.Add(answer, false)
	}
	f.Fuzz(func(t *testing.T, result string, offered bool) {
		if _, err := canon.Parse([]byte(result)); err != nil {
			return
		}
		options := ""
		if offered {
			options = `,"options":[{"optionId":"allow","kind":"allow_once"},{"optionId":"reject","kind":"reject_once"}]`
		}
		log := `{"at":"2026-01-01T00:00:00Z","event":"task.started","payload":{}}
{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"t"}` + options + `}}
{"jsonrpc":"2.0","id":1,"result":` + strings.NewReplacer("\n", " ", "\r", " ").Replace(result) + `}
{"at":"2026-01-01T00:00:00Z","event":"task.completed","payload":{}}`
		o := record.Options{Issuer: receipt.Issuer{ID: "i"}, TaskID: "t", Tier: "act_auto", SessionID: "s", WorkspaceRef: "w"}
		l, err := record.Read(strings.NewReader(log), o, record.FormFrames)
		if err != nil {
			known(t, err)
			return
		}
		decision := l.Draft.Approvals[0].Decision
		doc, err := canon.Parse([]byte(result))
		if err != nil {
			t.Fatal(err)
		}
		if want := approves(doc.Root(), offered); (decision == "approved") != want {
			t.Errorf("options %v, %s: %s", offered, result, decision)
		}
	})
}

// approves is a short independent implementation of the rule.
func approves(r canon.Node, offered bool) bool {
	outcome, granted := r.Member("outcome"), r.Member("granted")
	if offered {
		return granted.IsZero() && outcome.Member("outcome").String() == "selected" && outcome.Member("optionId").String() == "allow"
	}
	switch {
	case !granted.IsZero():
		return granted.Bool() && outcome.IsZero()
	case outcome.Kind() == canon.KindString:
		return outcome.String() == "allow" || outcome.String() == "selected"
	}
	return outcome.Member("outcome").String() == "selected" && outcome.Member("optionId").IsZero()
}

// TestDeliveries verifies that a draft does not change if events are delivered again at any later
// position, or if their JSON is spelled differently.
func TestDeliveries(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, s := range scenarios() {
		o := s.options()
		lines := s.lines(t)
		want := draft(t, o, lines...)
		for range 30 {
			var delivered [][]byte
			for i := range lines {
				delivered = append(delivered, lines[i])
				for rng.IntN(3) == 0 { // after an interruption, the connection resumes at an earlier event
					from := rng.IntN(i + 1)
					delivered = append(delivered, lines[from:i+1]...)
				}
			}
			if got := draft(t, o, delivered...); got != want {
				t.Fatalf("%s: another draft\n%s", s.name, differ(got, want))
			}
		}
		var shuffled [][]byte
		for _, line := range lines {
			shuffled = append(shuffled, shuffle(t, rng, line))
		}
		if got := draft(t, o, shuffled...); got != want {
			t.Errorf("%s: members in another order give another draft\n%s", s.name, differ(got, want))
		}
	}
}

// shuffle changes the order of the members of all objects.
func shuffle(t *testing.T, rng *rand.Rand, line []byte) []byte {
	t.Helper()
	doc, err := canon.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	var write func(canon.Node) string
	write = func(n canon.Node) string {
		var parts []string
		switch n.Kind() {
		case canon.KindObject:
			for name, value := range n.Members() {
				parts = append(parts, string(name.Raw())+" : "+write(value))
			}
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			return "{" + strings.Join(parts, " , ") + "}"
		case canon.KindArray:
			for _, value := range n.Elements() {
				parts = append(parts, write(value))
			}
			return "[" + strings.Join(parts, " , ") + "]"
		}
		return string(n.Raw())
	}
	return []byte(write(doc.Root()))
}

// TestLostDelivery verifies that a lost event is an error, unless it was at the end of the log.
func TestLostDelivery(t *testing.T) {
	for _, s := range scenarios() {
		lines := s.lines(t)
		for lost := range len(lines) - 1 {
			r, err := record.New(s.options())
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range lines {
				if i == lost {
					continue
				}
				if err = r.Add(line); err != nil {
					break
				}
			}
			var refused *event.Error
			if !errors.As(err, &refused) || refused.Code != event.CodeGap {
				t.Errorf("%s without event %d: %v", s.name, lost+1, err)
			}
		}
	}
}
