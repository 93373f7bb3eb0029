package bridge

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A Mode says when a runtime that is at work hears what a user says.
type Mode int

const (
	WhenDone   Mode = iota // when it has nothing more to do: what no mode, or an unknown one, says
	FinishStep             // when the call or the answer that is under way has ended
	Interrupt              // before it calls a tool: those that it was about to call are not
)

// modeOf reads a mode in the words of all dialects.
func modeOf(word string) Mode {
	switch word {
	case "interrupt_immediate", "interrupt":
		return Interrupt
	case "finish_step", "after_current_operation", "steer":
		return FinishStep
	}
	return WhenDone // wait_for_completion, queue
}

// inject is how the newest dialect gives what a user says: a request, which has a response.
const inject = "session/inject"

// FromUser reports whether a method gives what a user says.
func FromUser(method string) bool {
	return slices.Contains([]string{"user_message", "session/input", "agent/user_message", inject}, method)
}

// UserMessage is what a user says while a runtime works.
type UserMessage struct {
	Mode    Mode
	Content json.RawMessage // a string, or an array of blocks
}

// ParseUserMessage reads what a user says. Nothing is not a message.
func ParseUserMessage(method string, params canon.Node) (UserMessage, error) {
	content := frames.Own(params, "content")
	kind := content.Kind()
	switch {
	case !FromUser(method):
		return UserMessage{}, shapeError(event.Quote(method), "a method by which users speak")
	case kind == canon.KindString && len(content.Text()) > 0, kind == canon.KindArray && content.Len() > 0:
		return UserMessage{modeOf(text(frames.Own(params, "mode"))), content.AppendCanonical(nil)}, nil
	}
	return UserMessage{}, shapeError(method, "the member content, a text or blocks")
}

// Accepted is the response to session/inject. Its id is the runtime's.
type Accepted struct {
	MessageID string `json:"messageId"`
	Status    string `json:"status"`
}

// Accept returns the response to a message that was taken.
func Accept(id string) Accepted { return Accepted{id, "accepted"} }

// MaxInbox is how many messages wait at most.
const MaxInbox = 1 << 10

// ErrInboxFull says that more than MaxInbox messages wait.
var ErrInboxFull = errors.New("too many messages of users wait for the runtime")

// An Inbox holds what users said, in the order in which they did.
type Inbox []UserMessage

// Put adds a message.
func (b Inbox) Put(m UserMessage) (Inbox, error) {
	if len(b) == MaxInbox {
		return b, ErrInboxFull
	}
	return append(b, m), nil
}

// Take parts the messages that are heard now from those that still wait, and leaves the
// inbox as it is. At the mode WhenDone all are heard: none is lost when the work ends. At
// Interrupt the tools that were about to be called are not when any is heard.
func (b Inbox) Take(at Mode) (heard, left Inbox) {
	for _, m := range b {
		if m.Mode >= at {
			heard = append(heard, m)
		} else {
			left = append(left, m)
		}
	}
	return heard, left
}
