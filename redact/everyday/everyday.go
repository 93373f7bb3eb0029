// Package everyday has the default rules compiled, once in a process: whoever issues, seals
// or records without rules of their own withholds by them. It stands beside package redact
// so that a program without it, such as the verification page, links none of the detectors.
package everyday

import (
	"sync"

	"github.com/receiptkit/receiptkit/redact"
)

var compiled = sync.OnceValues(func() (*redact.Policy, error) { return redact.Default().Compile() })

// Policy returns [redact.Default], compiled when it is first asked for. All callers get the
// same policy, which is safe for concurrent use and keeps the detectors that texts needed. An
// error would be one of the default rules themselves.
func Policy() (*redact.Policy, error) { return compiled() }
