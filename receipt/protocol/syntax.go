package protocol

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// WithoutText keeps of a syntax error what cannot hold a key that was pasted into a file,
// or sent, by mistake.
func WithoutText(err error) error {
	if syntax, ok := err.(*canon.SyntaxError); ok {
		return fmt.Errorf("%s at byte %d", syntax.Code, syntax.Offset)
	}
	return err
}
