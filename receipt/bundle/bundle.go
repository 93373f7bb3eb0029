package bundle

import (
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// MaxBytes is the maximum length of a bundle or a run record.
const MaxBytes = 256 << 20

// The index of a document is limited to maxIndex times the document's size, or to leastIndex bytes
// if that is more. A typical index is smaller; the index of a list of single digits is ten times as
// large as the list.
const (
	maxIndex   = 3
	leastIndex = 32 << 20
)

// A Bundle is a parsed JSON text. [Check] reports whether a Bundle has the structure of a session
// bundle.
type Bundle struct{ doc *canon.Document }

// Parse parses a bundle from data, which must not change while the bundle is in use. The error is
// an *[Error].
func Parse(data []byte) (*Bundle, error) {
	doc, err := parse(data)
	return &Bundle{doc}, err
}

func parse(data []byte) (*canon.Document, error) {
	if len(data) > MaxBytes {
		return nil, tooLarge("the bytes")
	}
	if size := canon.Size(data); size > leastIndex && size > maxIndex*int64(len(data)) {
		return nil, &Error{TooLarge, "$", "so many small values that reading them would take more than four times the bytes"}
	}

	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: MaxBytes}); err != nil {
		return nil, unreadable(err)
	}
	return doc, nil
}

func (b *Bundle) root() value { return of(b.doc.Root()) }

// manifest returns the redaction member of a bundle. Its list of removals is read from entries when
// the bundle is written.
func manifest(m manner, entries *[]Entry) value {
	rejected := "false"
	if m.redacts() {
		rejected = "true"
	}
	return object(
		member{"mode", text(string(m.mode))},
		member{"policy", text(m.policy())},
		member{"placeholder", text(placeholder)},
		member{"entries", value{made: &made{kind: canon.KindArray, entries: entries}}},
		member{"unsafe_secret_markers_rejected", literal(canon.KindBool, rejected)},
	)
}

// rules contains the compiled schema and patterns. Compiling them takes a few milliseconds.
type rules struct {
	shape  *shape
	marker *redact.Marker
}

// prepared returns the rules.
var prepared = sync.OnceValues(func() (*rules, error) {
	s, err := newShape()
	if err != nil {
		return nil, err
	}
	m, err := redact.NewMarker()
	if err != nil {
		return nil, err
	}
	return &rules{s, m}, nil
})
