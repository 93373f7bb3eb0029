package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// longText is the length in bytes from which a value of a resource is kept only in the log.
const longText = 512

// A text is a JSON value of a resource that a client or a model chose. A long value is read from
// the log when it is needed, so that the memory for a resource does not depend on its content.
type text struct {
	raw  json.RawMessage // of a short value, and of a value that is not yet in the log
	part journal.Part    // of a long value
	log  *state
}

// longName is the maximum length in bytes of names, which stay in memory.
const longName = 4096

// short checks that members of the body are not longer than longName.
func short(r *protocol.Request, names ...string) error {
	for _, name := range names {
		text, err := textMember(r, name)
		switch {
		case err != nil:
			return err
		case len(text) > longName:
			return protocol.Invalid(name, "expected at most %d bytes", longName)
		}
	}
	return nil
}

// UnmarshalJSON stores the value. Other copies of the text do not change.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text{raw: slices.Clone(raw)}
	return nil
}

// MarshalJSON returns the value, or null if there is none.
func (t text) MarshalJSON() ([]byte, error) {
	raw, err := t.value()
	if raw == nil {
		raw = json.RawMessage("null")
	}
	return raw, err
}

// value returns the value, or nil if there is none.
func (t text) value() (json.RawMessage, error) {
	if t.log == nil {
		return t.raw, nil
	}
	return t.log.read(t.part)
}

// size returns the length of the value in bytes.
func (t text) size() int64 { return int64(len(t.raw) + t.part.Size()) }

// keep replaces a long value with its position in the log. The names lead to the member of the
// event that is being folded.
func (s *state) keep(t *text, c *journal.Commit, names ...string) {
	if len(t.raw) < longText {
		return
	}
	if part := c.Part(s.folding, names...); part.Size() > 0 {
		*t = text{part: part, log: s}
	}
}

// logged prepares a text for a log.
func logged(text string) string { return untrusted.Escape(untrusted.Cut(text, 1000)) }
