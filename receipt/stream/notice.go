package stream

import (
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/unpack"
)

// MaxNotices is the maximum number of notices, and also of findings, that a summary lists. Further
// notices are only counted, and further findings are omitted.
const MaxNotices = 1000

func bounded[T any](list []T) []T { return list[:min(len(list), MaxNotices)] }

// A Notice describes a problem with an input.
type Notice struct {
	Source string `json:"source"`
	Detail string `json:"detail"`
	After  int    `json:"after,omitzero"` // number of documents that were read from the input before the problem
	Hint   string `json:"-"`
	Wide   bool   `json:"-"` // see [unpack.Error]

	Kind kind.Found `json:"-"` // the kind of an input that contains no receipts; zero for any other problem
}

// errEmpty indicates that a source contained nothing.
var errEmpty = errors.New("contains no receipt")

// noticeOf returns a notice about a source that could not be read to its end.
func noticeOf(source string, err error) Notice {
	n := Notice{Source: source, Detail: err.Error()}
	if errors.Is(err, errEmpty) {
		n.Hint = "it is empty, or an empty list: check the path, or the program that writes it"
	}
	if packed := (*unpack.Error)(nil); errors.As(err, &packed) {
		n.Hint, n.Wide = packed.Hint, packed.Wide
	}
	if other := (*OtherKindError)(nil); errors.As(err, &other) {
		n.Kind = other.Found
	}
	return n
}

// Inputs describes the sources that were read.
type Inputs struct {
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"` // before decompression
	Unreadable []Notice `json:"unreadable"`
}

// Keys describes the file of trusted keys.
type Keys struct {
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
	Count  int          `json:"count"`
}
