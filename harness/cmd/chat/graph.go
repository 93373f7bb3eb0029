package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// A message is a message in a conversation, as JSON.
type message = json.RawMessage

// text returns a message with the given role and content.
func text(role, content string) message {
	m, _ := json.Marshal(map[string]string{"role": role, "content": content}) // strings cannot fail
	return m
}

// A state is the input for the nodes of a graph.
type state struct {
	messages []message      // the history, followed by the messages that were added
	inbound  int            // index of the message that was sent
	values   map[string]any // from signals
	decision string         // the decision in the last signal, as recorded in the receipt, or "" if the turn did not wait
}

// A node returns the messages that it adds. If it returns a *suspension, the turn is suspended and
// continues with the next node. Any other error ends the turn.
type node func(context.Context, *state) ([]message, error)

// A suspension specifies the signal for which a turn waits.
type suspension struct {
	signal   string
	metadata json.RawMessage
}

// Error returns the name of the signal.
func (s *suspension) Error() string {
	return fmt.Sprintf("suspended until the signal %q comes", s.signal)
}

// A failure is an error with a category.
type failure struct {
	category  string
	transient bool
	err       error // an error that may be shown to the sender of the message
}

// Error returns the category and the text of the error.
func (f *failure) Error() string { return f.category + ": " + f.err.Error() }

// Unwrap returns the error that may be shown.
func (f *failure) Unwrap() error { return f.err }

// failed returns the failure and the reply that result from an error. The text of an error without
// a category is not shown. In all other error texts, secrets are withheld.
func failed(err error) (record.Failure, message) {
	category, diagnostic, transient := "", "something in it could not be handled", false
	if f, known := errors.AsType[*failure](err); known {
		category, diagnostic, transient = f.category, f.err.Error(), f.transient
	}
	why := record.Failure{Category: category, Bucket: record.BucketOf(category, transient)}
	switch why.Bucket {
	case record.SessionTerminating:
		return why, text("system", "This conversation can't continue. Please start a new one.")
	case record.RetryableTransient:
		return why, text("system", "I had trouble responding. Try again in a moment.")
	}
	return why, text("system", "The request couldn't be processed: "+strings.TrimRight(untrusted.Cut(withheld(diagnostic), 1<<10), ".")+". Please adjust your message and try again.")
}

// secrets returns a scanner for secrets.
var secrets = sync.OnceValues(func() (*secret.Scanner, error) { return secret.Compile(secret.Default()) })

// withheld returns the given text without secrets.
func withheld(text string) string {
	scanner, err := secrets()
	if err != nil {
		return "something in it could not be handled"
	}
	var shown strings.Builder
	at := 0
	for _, found := range scanner.Scan([]byte(text), nil) {
		shown.WriteString(text[at:found.Start] + "[withheld]")
		at = found.End
	}
	return shown.String() + text[at:]
}
