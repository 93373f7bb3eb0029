package bridge

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
)

// A Log writes what passed over a bridge, a line each, as a receipt is recorded from it.
type Log struct {
	mu sync.Mutex
	to io.Writer
}

// NewLog returns a Log. Whoever needs it to outlive the machine gives a writer that syncs.
func NewLog(to io.Writer) *Log { return &Log{to: to} }

// Frame writes a message that passed at a time. It is for [Options].
func (l *Log) Frame(at time.Time, from frames.Sender, frame []byte) error {
	return l.write(struct {
		At    time.Time       `json:"at"`
		From  frames.Sender   `json:"from"`
		Frame json.RawMessage `json:"frame"`
	}{at.UTC(), from, frame})
}

// Event writes what no message tells, such as what a model cost.
func (l *Log) Event(at time.Time, kind string, payload any) error {
	return l.write(struct {
		At      time.Time `json:"at"`
		Event   string    `json:"event"`
		Payload any       `json:"payload"`
	}{at.UTC(), kind, payload})
}

func (l *Log) write(line any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.NewEncoder(l.to).Encode(line) // in one write, or none
}
