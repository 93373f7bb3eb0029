package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Tool is something that a model can have done.
type Tool struct {
	Name    string
	Approve bool // a person has to agree first
	Again   bool // doing it twice is as doing it once: after a crash, when nobody knows, it is done again
	Do      func(ctx context.Context, t *Task, input json.RawMessage) (Done, error)
}

// Done is what a tool did. Of a list that is nil nothing is told; one that is empty says that
// there was nothing.
type Done struct {
	Output any
	Writes []FileWrite // files that were changed
	Egress []Egress    // where data was sent to
}

// An Egress is data that left the machine, as a receipt tells it.
type Egress struct {
	URL       string `json:"url"`
	BytesSent int64  `json:"bytes_sent"`
}

// here is what a tool did that changed nothing and sent nothing.
func here(output any) Done { return Done{output, []FileWrite{}, []Egress{}} }

// A FileWrite is a file that was changed, as a receipt tells it.
type FileWrite struct {
	Path      string       `json:"path"`
	Operation string       `json:"operation"`
	After     canon.Digest `json:"after_sha256"`
}

// askTool is answered by a person, and by no function.
const askTool = "person.ask"

// tools are those that every harness here has.
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

// readClock is how a module learns the time: what a replay is to give it too.
func (h *Harness) readClock(context.Context, *Task, json.RawMessage) (Done, error) {
	return here(object{"now": h.options.Now().UTC().Format(time.RFC3339Nano)}), nil
}

// writeNote writes a text into a file of the workspace. The same text is the same file.
func (h *Harness) writeNote(_ context.Context, t *Task, input json.RawMessage) (Done, error) {
	var asked struct{ Text string }
	if err := json.Unmarshal(input, &asked); err != nil || asked.Text == "" {
		return Done{}, errors.New("expected a text")
	}
	digest := canon.Sum([]byte(t.ID + "\n" + asked.Text))
	name := filepath.Join(h.options.Dir, "notes", digest.String()[len("sha256:"):]+".txt")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(asked.Text), 0o600)); err != nil {
		h.options.Log.Error("a note cannot be written", "task", t.ID, "error", protocol.Clean(err.Error()))
		return Done{}, errors.New("the note could not be written") // where notes are is for nobody
	}
	done := here(object{"written": filepath.Base(name)})
	done.Writes = append(done.Writes, FileWrite{"notes/" + filepath.Base(name), "create", canon.Sum([]byte(asked.Text))})
	return done, nil
}
