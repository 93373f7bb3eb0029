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

// A Commit is a list of events that happened together, with the response to the request that caused
// them.
type Commit struct {
	At     receipt.Time
	Events []Event

	// If the commit answered a request with an Idempotency-Key, Use describes the request.
	// Otherwise, Use.Key is zero. Status and Resource are the response, with the resource as it was
	// after the commit.
	Use      protocol.Use
	Status   int
	Resource Pointer

	at    int64        // offset of the line in the file
	nodes []canon.Node // the events in the line, set only while the commit is applied
}

// MaxLine is the maximum length of a line in bytes.
const MaxLine = 16 << 20

// Remember adds the response of a commit to a memory, so that a repeated request gets the same
// response, even after a restart. If the request had no Idempotency-Key, Remember does nothing. The
// function read must return the resource as of this commit, never a later version. The function
// read is called for each repeated request. Therefore, the memory does not contain the response,
// and a response cannot prevent a commit from being applied.
func (c *Commit) Remember(m *protocol.Memory, now time.Time, read func() any) {
	if !c.Use.Key.IsZero() {
		m.Remember(c.Use, c.Status, read, c.At.Time, now)
	}
}

// Part returns the position of a value in the file. The value is in the event with the given index
// in the commit, in the member that the names select. Part is available only within apply. It
// returns the zero Part if it is called outside apply, or if there is no such value.
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

// locate makes Part available for the commit at the given offset, until done is called.
func (c *Commit) locate(line *canon.Document, at int64) (done func()) {
	c.at = at
	for _, node := range line.Root().Member("events").Elements() {
		c.nodes = append(c.nodes, node)
	}
	return func() { c.nodes = nil }
}

// A line is the encoding of a Commit in the file.
type line struct {
	At       receipt.Time `json:"at"`
	Use      *use         `json:"use,omitempty"`
	Status   int          `json:"status,omitempty"`
	Resource *Pointer     `json:"resource,omitempty"`
	Events   []Event      `json:"events"`
}

// A use is the encoding of a protocol.Use in the file.
type use struct {
	Actor string       `json:"actor"` // 64 hexadecimal digits: the digest of the API key
	Key   canon.Digest `json:"key"`
	Body  canon.Digest `json:"body"`
}

// newLine returns the line for a commit, including the line feed.
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

// parseLine parses a line without its line feed. It also stores the parsed line, which contains the
// event texts, in doc.
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
		return nil, errors.New("expected the actor, the status, and the resource of the idempotent request")
	}
	c.Use = protocol.Use{Actor: [32]byte(actor), Key: l.Use.Key, Body: l.Use.Body}
	c.Resource = *l.Resource
	return c, nil
}
