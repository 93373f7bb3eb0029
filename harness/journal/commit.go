package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
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

	at    int64        // where the line is in the file
	nodes []canon.Node // of the events in the line, while the commit is applied
}

// MaxLine is how many bytes a line has at most.
const MaxLine = 16 << 20

// Remember tells a memory what a commit answered, if that was with an Idempotency-Key: the request
// is answered the same again, also after a restart. read returns the resource as it is when the
// commit has been applied, and no later one. It is called for each repeated request, so that no
// memory holds the answer, and nothing about an answer can be a reason not to apply a commit.
func (c *Commit) Remember(m *protocol.Memory, now time.Time, read func() any) {
	if !c.Use.Key.IsZero() {
		m.Remember(c.Use, protocol.StoredAnswer(c.Status, read), c.At.Time, now)
	}
}

// Part returns where a value of an event is: that of the event of a number in the commit, from 0, by
// the names of the members that lead to it. It is for apply alone: elsewhere, and when there is no
// such value, it is the zero Part.
func (c *Commit) Part(event int, names ...string) Part {
	if event >= len(c.nodes) {
		return Part{}
	}
	node := c.nodes[event]
	for _, name := range names {
		node = node.Member(name)
	}
	if node.IsZero() {
		return Part{}
	}
	return Part{c.at + int64(node.Offset()), len(node.Raw())}
}

// locate lets apply find the parts of a commit, whose line is at a place of the file.
func (c *Commit) locate(line *canon.Document, at int64) (done func()) {
	c.at = at
	for _, node := range line.Root().Member("events").Elements() {
		c.nodes = append(c.nodes, node)
	}
	return func() { c.nodes = nil }
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
		return dst, tooLong(len(dst))
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
