package serve

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// A RefusedError says why what a server was given is of no use to it: a file of API
// keys, the name of one, a checkpoint.
type RefusedError struct {
	Code   receipt.Code // why a checkpoint is refused; "" for API keys
	Detail string       // what was expected and what was found
	Err    error        // what the detail tells of; may be nil
}

// Error gives the code and the detail.
func (e *RefusedError) Error() string {
	if e.Code == "" {
		return "serve: " + e.Detail
	}
	return fmt.Sprintf("serve: %s: %s", e.Code, e.Detail)
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(code receipt.Code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &RefusedError{code, err.Error(), errors.Unwrap(err)}
}
