package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// longText is the length in bytes from which a value of a resource stays in the log.
const longText = 512

// A text is a JSON value of a resource that a client or a model chose. A long one is read from the log
// when it is asked for, so that what a resource takes in memory does not depend on what it says.
type text struct {
	raw  json.RawMessage // of a short one, and of one that is not in the log yet
	part journal.Part    // of a long one
	log  *state
}

// longName is the maximum length in bytes of what a client names: names stay in memory.
const longName = 4096

// short checks that members of the body that are names are not longer than names may be.
func short(r *protocol.Request, names ...string) error {
	for _, name := range names {
		text, err := r.Text(name)
		switch {
		case err != nil:
			return err
		case len(text) > longName:
			return protocol.Invalid(name, "expected at most %d bytes", longName)
		}
	}
	return nil
}

// UnmarshalJSON keeps the value. Other copies of the text keep theirs.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text{raw: slices.Clone(raw)}
	return nil
}

// MarshalJSON returns the value; null if there is none.
func (t text) MarshalJSON() ([]byte, error) {
	raw, err := t.value()
	if raw == nil {
		raw = json.RawMessage("null")
	}
	return raw, err
}

// value returns the value; nil if there is none.
func (t text) value() (json.RawMessage, error) {
	if t.log == nil {
		return t.raw, nil
	}
	return t.log.read(t.part)
}

// size is the length of the value in bytes.
func (t text) size() int64 { return int64(len(t.raw) + t.part.Size()) }

// keep leaves a long value in the log: the member of the event that is being folded to which the
// names lead.
func (s *state) keep(t *text, c *journal.Commit, names ...string) {
	if len(t.raw) < longText {
		return
	}
	if part := c.Part(s.folding, names...); part.Size() > 0 {
		*t = text{part: part, log: s}
	}
}
