package protocol

import (
	"errors"
	"fmt"
)

// An APIKeyError says why a file of API keys, or the name of a key, is of no use.
type APIKeyError struct {
	Detail string // what was expected and what was found
	Err    error  // what the detail tells of; may be nil
}

// Error gives the detail.
func (e *APIKeyError) Error() string { return "protocol: " + e.Detail }

// Unwrap returns Err.
func (e *APIKeyError) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &APIKeyError{err.Error(), errors.Unwrap(err)}
}
