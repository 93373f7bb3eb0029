package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Commit is what happened together, and what it answered.
type Commit struct {
	At     receipt.Time
	Events []Event

	// Use is the request with an Idempotency-Key that this answered; its zero Key: none did.
	// Status and Resource are the answer: the resource as it was when this had happened.
	Use      protocol.Use
	Status   int
	Resource Pointer
}

// MaxLine is how many bytes a line has at most.
const MaxLine = 16 << 20

// Remember tells a memory what a commit answered, when that was with an Idempotency-Key: so
// that the request is answered the same after a restart. body is the resource as it is when
// the commit has been applied, and no later one.
func (c *Commit) Remember(m *protocol.Memory, now time.Time, body any) error {
	if c.Use.Key.IsZero() {
		return nil
	}
	answer, err := protocol.NewAnswer(c.Status, body)
	if err == nil {
		m.Remember(c.Use, *answer, c.At.Time, now)
	}
	return err
}

// A line is a Commit as the file has it.
type line struct {
	At       receipt.Time `json:"at"`
	Use      *use         `json:"use,omitempty"`
	Status   int          `json:"status,omitempty"`
	Resource *Pointer     `json:"resource,omitempty"`
	Events   []Event      `json:"events"`
}

// A use is a protocol.Use as the file has it.
type use struct {
	Actor string       `json:"actor"` // 64 hexadecimal digits: the digest of the API key
	Key   canon.Digest `json:"key"`
	Body  canon.Digest `json:"body"`
}

// newLine is the line of a commit, with its line feed.
func newLine(c *Commit) ([]byte, error) {
	l := line{At: c.At, Events: c.Events}
	if !c.Use.Key.IsZero() {
		l.Use = &use{hex.EncodeToString(c.Use.Actor[:]), c.Use.Key, c.Use.Body}
		l.Status, l.Resource = c.Status, &c.Resource
	}
	dst, err := receipt.AppendJSON(nil, l)
	if err != nil {
		return dst, err
	}
	if dst = appendSum(dst); len(dst) >= MaxLine {
		return dst, fmt.Errorf("journal: a commit of %d bytes, expected at most %d", len(dst), MaxLine)
	}
	return append(dst, '\n'), nil
}

// parseLine reads a line without its line feed. doc is its index: the events' texts are in it.
func parseLine(doc *canon.Document, text []byte) (*Commit, error) {
	if err := checkSum(text); err != nil {
		return nil, err
	}
	if err := doc.Parse(text, canon.Limits{Bytes: MaxLine}); err != nil {
		return nil, protocol.WithoutText(err)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, errors.New("expected a commit")
	}
	c := &Commit{At: l.At, Events: l.Events, Status: l.Status}
	if l.Use == nil {
		return c, nil
	}

	actor, err := hex.DecodeString(l.Use.Actor)
	if err != nil || len(actor) != len(c.Use.Actor) || l.Resource == nil || http.StatusText(l.Status) == "" {
		return nil, errors.New("expected the actor, the status and the resource of what was done once")
	}
	c.Use = protocol.Use{Actor: [32]byte(actor), Key: l.Use.Key, Body: l.Use.Body}
	c.Resource = *l.Resource
	return c, nil
}
