package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A Message is one JSON-RPC 2.0 message: a request, a notification or a response. It was
// parsed once, strictly, as a recording parses it: nobody can see another message in it.
type Message struct {
	Root   canon.Node
	Method string     // "" of a response
	ID     canon.Node // zero of a notification
	Params canon.Node // zero when there are none

	line []byte
}

// An Error is what a request is answered with that failed.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error quotes the message: the other side wrote it.
func (e *Error) Error() string {
	return fmt.Sprintf("the other side answered with the error %d: %s", e.Code, event.Quote(e.Message))
}

// Codes of errors: JSON-RPC 2.0 section 5.1, and two of the bridge's own.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = -32000 // too many requests are open
	CodeRejected       = -32001 // the host does not permit the tool
)

// parse reads a line. Its error is the answer to it.
func parse(line []byte) (*Message, *Error) {
	doc := new(canon.Document)
	if err := event.Parse(doc, line); err != nil {
		return nil, &Error{CodeParse, "expected JSON: " + event.Shorten(err.Error())}
	}
	if !fits(doc, line) {
		return nil, &Error{CodeParse, "expected a message for which a line of a log has room"}
	}
	m := &Message{Root: doc.Root(), line: line}
	if m.Root.Kind() != canon.KindObject || m.Root.Member("jsonrpc").String() != "2.0" {
		return nil, invalid(`expected an object with the member jsonrpc "2.0"`)
	}

	// null is no id: the answer could be one to a line that nobody could read.
	if id := m.Root.Member("id"); !event.Absent(id) {
		if k := id.Kind(); k != canon.KindString && k != canon.KindNumber || len(id.Raw()) > event.MaxText {
			return nil, invalid("expected the member id to be a short string or a number")
		}
		m.ID = id
	}

	method := m.Root.Member("method")
	if method.IsZero() {
		if m.Root.Member("result").IsZero() && m.Root.Member("error").IsZero() {
			return nil, invalid("expected a method, a result or an error")
		}
		return m, nil
	}
	return m, m.request(method)
}

// MaxLine is how long a message may be, in bytes: a line of a log has what is around it, too.
const MaxLine = event.MaxLine - 128

// fits reports whether a message can be read again from a line of a log, which is longer,
// deeper and has more values.
func fits(doc *canon.Document, line []byte) bool {
	if len(line) < event.MaxValues/2 && doc.Depth() < canon.MaxDepth {
		return true
	}
	if len(line) > MaxLine {
		return false
	}
	around := slices.Concat([]byte(`{"at":"","from":"","frame":`), line, []byte("}"))
	return event.Parse(new(canon.Document), around) == nil
}

// request reads what a request or a notification has.
func (m *Message) request(method canon.Node) *Error {
	if m.Method = method.String(); method.Kind() != canon.KindString || m.Method == "" || len(m.Method) > event.MaxText {
		return invalid("expected the member method to be a short string")
	}
	if m.Params = m.Root.Member("params"); event.Absent(m.Params) {
		m.Params = canon.Node{}
	} else if k := m.Params.Kind(); k != canon.KindObject && k != canon.KindArray {
		return invalid("expected the member params to be an object or an array")
	}

	// An update of no session is one of nothing.
	if m.Method == "session/update" {
		if m.Params.Member("sessionId").String() == "" || m.Params.Member("update").Member("sessionUpdate").String() == "" {
			return invalid("expected the members sessionId and update.sessionUpdate")
		}
	}
	return nil
}

// by reports whether a peer of this role may send the message.
func (m *Message) by(role frames.Sender) bool {
	only := frames.SentBy(m.Method)
	return m.Method == "" || only == frames.SenderUnknown || only == role
}

// key is the id in canonical form: 1 and 1.0 are one, "1" is another.
func (m *Message) key() string { return string(m.ID.AppendCanonical(nil)) }

// Err is what the request was answered with, or nil.
func (m *Message) Err() error {
	fault := m.Root.Member("error")
	if event.Absent(fault) {
		return nil
	}
	return &Error{int(fault.Member("code").Float()), event.Shorten(fault.Member("message").String())}
}

func invalid(what string) *Error { return &Error{CodeInvalidRequest, what} }

// A sending is a message while it is written.
type sending struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// line writes the message, and reads it again: what could not be recorded is not said.
func (s sending) line() ([]byte, error) {
	s.Version = "2.0"
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(s); err != nil { // with a line feed
		return nil, err
	}
	line := b.Bytes()
	if _, fault := parse(line[:len(line)-1]); fault != nil {
		return nil, fmt.Errorf("%s is not sent: %s", s.named(), fault.Message)
	}
	return line, nil
}

func (s sending) named() string {
	if s.Method == "" {
		return "a response"
	}
	return event.Quote(s.Method)
}
