package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Roles of messages.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

func roles() []string { return []string{roleSystem, roleUser, roleAssistant, roleTool} }

// A ShapeError indicates that a message does not have the structure that its role requires. It
// contains the names of roles and blocks, but no other content of the message.
type ShapeError struct {
	Pointer string // JSON Pointer (RFC 6901) into the message; "" for the entire message
	Detail  string // the actual value and the expected values
}

// Error returns the location and the detail.
func (e *ShapeError) Error() string {
	if e.Pointer == "" {
		return "message: " + e.Detail
	}
	return "message, at " + event.Quote(e.Pointer) + ": " + e.Detail
}

// CheckMessage checks that the bytes are a message: strict JSON (I-JSON, RFC 7493) with the members
// that its role requires. Otherwise, it returns a [*ShapeError] with the category [ShapeInvalid].
// Unknown members are ignored, and null is treated as a missing member. CheckMessage cannot verify
// that the call named in a tool message exists.
func CheckMessage(message []byte) error {
	doc := new(canon.Document)
	if err := event.Parse(doc, message); err != nil {
		return &ShapeError{Detail: err.Error()}
	}
	if e := shapeOf(doc.Root()); e != nil {
		return e
	}
	return nil
}

// wrong returns a *ShapeError that contains the location of a value.
func wrong(at canon.Node, format string, args ...any) *ShapeError {
	return &ShapeError{at.Pointer(), fmt.Sprintf(format, args...)}
}

// shapeOf returns the error for a message, or nil.
func shapeOf(m canon.Node) *ShapeError {
	if m.Kind() != canon.KindObject {
		return wrong(m, "expected an object")
	}
	role := m.Member("role").String()
	if !slices.Contains(roles(), role) {
		return wrong(m, "expected a role of %s, found %s", strings.Join(roles(), ", "), event.Quote(role))
	}

	// The role determines the required members.
	calls, id := m.Member("tool_calls"), m.Member("tool_call_id")
	if role != roleAssistant && !event.Absent(calls) {
		return wrong(calls, "a message of the role %s calls no tools", role)
	}
	if role != roleTool && !event.Absent(id) {
		return wrong(id, "a message of the role %s answers no call", role)
	}
	if role == roleTool && !isName(id) {
		return wrong(m, "expected the id of a call in the member tool_call_id")
	}
	if e := callsOf(calls); e != nil {
		return e
	}
	return contentOf(role, m, calls.Len() > 0)
}

// contentOf checks the content of a message.
func contentOf(role string, m canon.Node, calls bool) *ShapeError {
	content := m.Member("content")
	switch content.Kind() {
	case canon.KindString:
		if len(content.Text()) > 0 || role == roleTool || calls {
			return nil
		}
		return wrong(content, "expected a non-empty string")
	case canon.KindArray:
		switch {
		case role == roleSystem || role == roleTool:
			return wrong(content, "expected a string: a message of the role %s has no blocks", role)
		case content.Len() == 0 && !calls:
			return wrong(content, "expected a block")
		}
		for _, b := range content.Elements() {
			if e := blockOf(role, b); e != nil {
				return e
			}
		}
		return nil
	}

	// A message that calls tools does not need any content.
	if event.Absent(content) && calls {
		return nil
	}
	return wrong(m, "expected content of the role %s", role)
}

// blocksOf returns the block types that a message of the given role may contain.
func blocksOf(role string) []string {
	if role == roleUser {
		return []string{"text", "image"}
	}
	return []string{"text", "thinking", "redacted_thinking"}
}

// blockOf checks a block in a message of the given role.
func blockOf(role string, b canon.Node) *ShapeError {
	kind := b.Member("type").String()
	if !slices.Contains(blocksOf(role), kind) {
		return wrong(b, "expected a block of the type %s, found %s", strings.Join(blocksOf(role), ", "), event.Quote(kind))
	}

	switch kind {
	case "image":
		return imageOf(b)
	case "redacted_thinking":
		if event.Absent(b.Member("data")) {
			return wrong(b, "expected the member data")
		}
		return nil
	}
	if !isName(b.Member("text")) {
		return wrong(b, "expected a non-empty string")
	}
	return nil
}

// imageOf checks an image, which is either inline or referenced by a URL.
func imageOf(b canon.Node) *ShapeError {
	source := b.Member("source")
	if d := b.Member("detail"); !event.Absent(d) && !slices.Contains([]string{"auto", "low", "high"}, d.String()) {
		return wrong(d, "expected auto, low or high")
	}

	switch source.Member("type").String() {
	case "url":
		if !isName(source.Member("url")) {
			return wrong(b, "expected the URL of the image")
		}
		return nil
	case "inline":
		if !isName(source.Member("base64_data")) || !isName(b.Member("media_type")) && !isName(source.Member("media_type")) {
			return wrong(b, "expected base64_data and media_type of the image")
		}
		return nil
	}
	return wrong(b, "expected a source of the type url or inline")
}

// callsOf checks tool calls, whose IDs must be distinct.
func callsOf(calls canon.Node) *ShapeError {
	if event.Absent(calls) {
		return nil
	}
	if calls.Kind() != canon.KindArray {
		return wrong(calls, "expected an array")
	}

	// A result refers to its call by this ID.
	ids := map[string]bool{}
	for _, c := range calls.Elements() {
		id, arguments := c.Member("id"), c.Member("arguments")
		switch {
		case !isName(id) || !isName(c.Member("name")):
			return wrong(c, "expected a call with an id and the name of a tool")
		case ids[id.String()]:
			return wrong(id, "expected an id that no other call of the message has")
		case !event.Absent(arguments) && arguments.Kind() != canon.KindObject: // null means that the provider sent no arguments
			return wrong(arguments, "expected an object")
		}
		ids[id.String()] = true
	}
	return nil
}

// isName reports whether a value is a nonempty string.
func isName(n canon.Node) bool { return n.Kind() == canon.KindString && len(n.Text()) > 0 }

// A Signal resumes a suspended turn.
type Signal struct {
	ID    string
	Actor string // the sender, according to the harness; "" if unknown

	// Payload is the JSON object as received, or nil. The member "decision" states whether the
	// signal approves. If it is absent, the members "approved" and "accepted" state this.
	// docs/record.md lists the recognized words.
	Payload []byte
}

// Decision returns the decision in the payload as the receipt will state it: approved, denied,
// canceled, or timeout. Programs that act on a signal must use this decision. A payload that is not
// strict JSON (I-JSON, RFC 7493) is not an approval.
func (s Signal) Decision() string {
	doc := new(canon.Document)
	if event.Parse(doc, s.Payload) != nil {
		return event.Denied
	}
	return event.DecisionOf(doc.Root())
}

// A SignalError indicates that a turn is not waiting for the given signal: no question requested
// the signal, or an earlier signal was accepted. The turn is not changed.
type SignalError struct {
	ID      string // of the signal
	Waiting string // the signal for which the turn is waiting, or ""
}

// Error returns both IDs.
func (e *SignalError) Error() string {
	if e.Waiting == "" {
		return fmt.Sprintf("record: the turn waits for no signal, found %s", event.Quote(e.ID))
	}
	return fmt.Sprintf("record: the turn waits for the signal %s, found %s", event.Quote(e.Waiting), event.Quote(e.ID))
}

// A Bucket states what the sender of the message can do after a failed turn.
type Bucket string

const (
	SessionTerminating Bucket = "session_terminating" // start another conversation
	RetryableTransient Bucket = "retryable_transient" // send the same message again
	UserCorrectable    Bucket = "user_correctable"    // send another message
)

// ShapeInvalid is the category of a message that does not have the structure that its role
// requires.
const ShapeInvalid = "chat_message_shape_invalid"

// A Failure is the cause of a failed turn.
type Failure struct {
	Category string // for example, provider_unavailable; "" if unknown
	Bucket   Bucket
}

func buckets() []Bucket { return []Bucket{SessionTerminating, RetryableTransient, UserCorrectable} }

// members returns the failure in the form of a task failure, with the members "code" and "message".
func (f Failure) members() event.Members {
	return event.Members{"code": f.Category, "message": string(f.Bucket)}
}

// BucketOf returns the bucket for a category. If a category has no fixed bucket, the session
// remains usable: the turn can be retried if the failure is transient, and must be corrected
// otherwise.
func BucketOf(category string, transient bool) Bucket {
	otherwise := UserCorrectable
	if transient {
		otherwise = RetryableTransient
	}
	return Bucket(event.Buckets().Meaning(category, string(otherwise)))
}
