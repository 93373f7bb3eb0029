package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt/record/turn"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// A message is one of a conversation, as JSON.
type message = json.RawMessage

// text is a message that says a text.
func text(role, content string) message {
	m, _ := json.Marshal(map[string]string{"role": role, "content": content}) // of texts: it cannot fail
	return m
}

// A state is what the nodes of a graph see.
type state struct {
	messages []message      // the history, and what was added
	inbound  int            // where the message is that was sent
	values   map[string]any // what signals gave
	decision string         // of the last one, as the receipt has it; "": the turn did not wait
}

// A node returns the messages that it adds. A *suspension suspends the turn, which goes on
// with the next node; any other error ends it.
type node func(context.Context, *state) ([]message, error)

// A suspension says what signal a turn waits for.
type suspension struct {
	signal   string
	metadata json.RawMessage
}

// Error says so.
func (s *suspension) Error() string {
	return fmt.Sprintf("suspended until the signal %q comes", s.signal)
}

// A failure is an error of a category.
type failure struct {
	category  string
	transient bool
	err       error // what may be shown to whoever sent the message
}

// Error gives both.
func (f *failure) Error() string { return f.category + ": " + f.err.Error() }

// Unwrap returns what may be shown.
func (f *failure) Unwrap() error { return f.err }

// failed is what an error comes to. One without a category is shown to nobody, and of no
// other the secrets that are in it.
func failed(err error) (turn.Failure, message) {
	category, diagnostic, transient := "", "something in it could not be handled", false
	if f, known := errors.AsType[*failure](err); known {
		category, diagnostic, transient = f.category, f.err.Error(), f.transient
	}
	why := turn.Failure{Category: category, Bucket: turn.BucketOf(category, transient)}
	switch why.Bucket {
	case turn.SessionTerminating:
		return why, text(turn.RoleSystem, "This conversation can't continue. Please start a new one.")
	case turn.RetryableTransient:
		return why, text(turn.RoleSystem, "I had trouble responding. Try again in a moment.")
	}
	return why, text(turn.RoleSystem, "That request couldn't be processed: "+strings.TrimRight(foreign.Cut(withheld(diagnostic), 1<<10), ".")+". Please adjust your message and try again.")
}

// secrets finds those that are in a text.
var secrets = sync.OnceValues(func() (*secret.Scanner, error) { return secret.Compile(secret.Default()) })

// withheld is a text without the secrets that are in it.
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
