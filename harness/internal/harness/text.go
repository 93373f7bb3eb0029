package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// longText is the minimum length in bytes of a value that is stored only in the log.
const longText = 512

// A text is a JSON value that a client or a model chose for a member of a resource. A long value is
// read from the log when it is needed, so the memory that a resource uses does not depend on its
// content.
type text struct {
	raw  json.RawMessage // set for a short value, and for a value that is not in the log yet
	part journal.Part    // set for a long value
	log  *state
}

// longName is the maximum length of a name in bytes. Names are limited because they stay in memory.
const longName = 4096

// short checks that the given members of the body are no longer than longName.
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

// UnmarshalJSON stores a copy of the value. Later changes to the given bytes do not affect the
// copy.
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

// keep replaces a long value with its position in the log. The names select a member in the event
// that is being applied.
func (s *state) keep(t *text, c *journal.Commit, names ...string) {
	if len(t.raw) < longText {
		return
	}
	if part := c.Part(s.folding, names...); part.Size() > 0 {
		*t = text{part: part, log: s}
	}
}

// logged returns text in the form used in log messages, which is escaped and truncated.
func logged(text string) string { return untrusted.Escape(untrusted.Cut(text, 1000)) }
