package stream

import (
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/unpack"
)

// MaxNotices is how many notices and findings of a kind are kept; the rest is
// counted.
const MaxNotices = 1000

func bounded[T any](list []T) []T { return list[:min(len(list), MaxNotices)] }

// A Notice says what happened to one input.
type Notice struct {
	Source string `json:"source"`
	Detail string `json:"detail"`
	Hint   string `json:"-"`
	Wide   bool   `json:"-"` // see CompressionError

	Kind kind.Found `json:"-"` // what an input is that holds no receipts; zero for any other reason
}

// errEmpty says that a source was read to its end and holds nothing.
var errEmpty = errors.New("holds no receipt")

// noticeOf says why a source could not be read to its end.
func noticeOf(source string, err error) Notice {
	n := Notice{Source: source, Detail: err.Error()}
	if errors.Is(err, errEmpty) {
		n.Hint = "it is empty, or an empty list: check the path, or whatever should have written it"
	}
	if packed := (*unpack.Error)(nil); errors.As(err, &packed) {
		n.Hint, n.Wide = packed.Hint, packed.Wide
	}
	if other := (*OtherKindError)(nil); errors.As(err, &other) {
		n.Kind = other.Found
	}
	return n
}

// Inputs are what was read.
type Inputs struct {
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"` // before decompression
	Unreadable []Notice `json:"unreadable"`
}

// Keys names the file of trusted keys that was used.
type Keys struct {
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
	Count  int          `json:"count"`
}
