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
	Approve bool // requires the approval of a person
	Again   bool // running it twice has the same effect as running it once, so it is run again if a crash leaves its effects unknown
	Do      func(ctx context.Context, t *Task, input json.RawMessage) (Done, error)
}

// Done is the effect of a tool. A nil list means unknown and is not recorded; an empty list states
// that there was no such effect.
type Done struct {
	Output any
	Writes []FileWrite // files that were changed
	Egress []Egress    // data that was sent
}

// An Egress is data that left the machine, as stated in a receipt.
type Egress struct {
	URL       string `json:"url"`
	BytesSent int64  `json:"bytes_sent"`
}

// here returns the result of a tool that changed nothing and sent nothing.
func here(output any) Done { return Done{output, []FileWrite{}, []Egress{}} }

// A FileWrite is a changed file, as stated in a receipt.
type FileWrite struct {
	Path      string       `json:"path"`
	Operation string       `json:"operation"`
	After     canon.Digest `json:"after_sha256"`
}

// askTool names the tool whose calls a person answers, not a function.
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

// readClock returns the time. Modules get it from a tool, so that a replay can supply it, too.
func (h *Harness) readClock(context.Context, *Task, json.RawMessage) (Done, error) {
	return here(object{"now": h.options.Now().UTC().Format(time.RFC3339Nano)}), nil
}

// writeNote writes a text to a file. The same text of the same task is written to the same file.
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
