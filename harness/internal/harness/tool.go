package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A Tool is a function that a model can call.
type Tool struct {
	Name    string
	Approve bool // whether a person must approve each call
	Again   bool // whether running the tool twice has the same effect as running it once, so that it may run again after a crash that leaves its effects unknown
	Do      func(ctx context.Context, t *Task, input json.RawMessage) (Done, error)
}

// A Done states the effects of a tool call. A nil list means that the effects are unknown and not
// recorded. An empty list states that there were no such effects.
type Done struct {
	Output any
	Writes []FileWrite // files that were changed
	Egress []Egress    // data that was sent
}

// An Egress describes data that left the machine, in the form used in receipts.
type Egress struct {
	URL       string `json:"url"`
	BytesSent int64  `json:"bytes_sent"`
}

// here returns the result of a tool that neither changed files nor sent data.
func here(output any) Done { return Done{output, []FileWrite{}, []Egress{}} }

// A FileWrite describes a changed file, in the form used in receipts.
type FileWrite struct {
	Path      string       `json:"path"`
	Operation string       `json:"operation"`
	After     canon.Digest `json:"after_sha256"`
}

// askTool is the name of the tool whose calls are answered by a person instead of a function.
const askTool = "person.ask"

// tools returns the built-in tools.
func (h *Harness) tools() []Tool {
	return []Tool{
		{Name: "clock.now", Again: true, Do: h.readClock},
		{Name: "note.write", Approve: true, Again: true, Do: h.writeNote},
		{Name: askTool, Again: true},
	}
}

func (h *Harness) tool(name string) *Tool {
	for _, t := range append(h.tools(), h.options.Tools...) {
		if t.Name == name {
			return &t
		}
	}
	return nil
}

// readClock returns the current time. Modules get the time from a tool, so that a replay can also
// supply it.
func (h *Harness) readClock(context.Context, *Task, json.RawMessage) (Done, error) {
	return here(object{"now": h.options.Now().UTC().Format(time.RFC3339Nano)}), nil
}

// writeNote writes text to a file. The same text in the same task is always written to the same
// file.
func (h *Harness) writeNote(_ context.Context, t *Task, input json.RawMessage) (Done, error) {
	var asked struct{ Text string }
	if err := json.Unmarshal(input, &asked); err != nil || asked.Text == "" {
		return Done{}, errors.New("expected a text")
	}
	digest := canon.Sum([]byte(t.ID + "\n" + asked.Text))
	name := filepath.Join(h.options.Dir, "notes", digest.String()[len("sha256:"):]+".txt")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(asked.Text), 0o600)); err != nil {
		h.options.Log.Error("a note cannot be written", "task", t.ID, "error", logged(err.Error()))
		return Done{}, errors.New("the note could not be written") // clients must not learn where notes are stored
	}
	done := here(object{"written": filepath.Base(name)})
	done.Writes = append(done.Writes, FileWrite{"notes/" + filepath.Base(name), "create", canon.Sum([]byte(asked.Text))})
	return done, nil
}
