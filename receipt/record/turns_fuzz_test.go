package record_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record"
)

// FuzzTurn verifies that the events of a turn alone produce the same draft, and that another
// process can continue the turn at any point. A refused turn has no draft.
func FuzzTurn(f *testing.F) {
	for i, test := range turnCases() {
		f.Add(strings.Join(test.lines, "\n"), byte(i))
	}
	f.Add(strings.Join([]string{hello, "begin", "suspend s", "signal t", "signal s/u {}", "begin", "suspend s {}", "signal s/u {\"approved\":true}", "begin", "complete"}, "\n"), byte(6))
	f.Add(strings.Join([]string{`event task.submitted {}`, hello, "begin", `event span.completed {"kind":"llm"}`, `event artifact.created {"artifact_id":"reply_7"}`, assistant("Hi"), "event task.canceled {}"}, "\n"), byte(3))
	f.Fuzz(func(t *testing.T, script string, cut byte) {
		lines := slices.DeleteFunc(strings.Split(script, "\n"), func(line string) bool {
			what, _, _ := strings.Cut(line, " ")
			return !slices.Contains([]string{"send", "begin", "message", "suspend", "signal", "complete", "fail", "event"}, what)
		})
		lines = lines[:min(len(lines), 50)]

		// Without an interruption.
		var whole []byte
		at := fromLog(t, &whole)
		want, err := end(t, at, lines, 0)
		if err != nil {
			known(t, err)
		}

		// Repeat the turn with an interruption, from the events so far.
		var parts []byte
		between := int(cut) % (len(lines) + 1)
		if _, refused := end(t, fromLog(t, &parts), lines[:between], 0); refused != nil && !errors.Is(refused, record.ErrNotEnded) && !ends(refused) {
			return
		}
		got, again := end(t, fromLog(t, &parts), lines[between:], between)
		if got != want || !bytes.Equal(parts, whole) || (err == nil) != (again == nil) {
			t.Errorf("resumed before %d: %v and %v, another draft\n%s", between, err, again, differ(got, want))
		}
		if l, err := record.Read(bytes.NewReader(whole), turnOptions(), record.FormEvents); want != "" && (err != nil || asJSON(t, l.Draft) != want) {
			t.Errorf("its events: %v", err)
		}
	})
}

// end plays the lines, and returns the draft. The argument from is the index of the first line in
// the script.
func end(t *testing.T, tr *record.Turn, lines []string, from int) (string, error) {
	t.Helper()
	for i, line := range lines {
		err := do(tr, from+i+1, line)
		var ignored *record.SignalError
		if err != nil && !errors.As(err, &ignored) {
			if d, again := tr.Draft(); d != nil || again != err {
				t.Errorf("refused with %v, and then %v", err, again)
			}
			return "", err
		}
	}
	d, err := tr.Draft()
	if err != nil {
		return "", err
	}
	return asJSON(t, d), nil
}

// ends reports whether all events were accepted, and the draft was refused because required values
// are missing.
func ends(err error) bool {
	var missing *record.MissingError
	return errors.As(err, &missing)
}
