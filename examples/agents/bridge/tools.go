package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// A Tool is one of the host's, in exactly these members.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // an object, or null
	Deprecated  bool            `json:"deprecated"`
}

const toolsList = "host/tools/list"

// ParseTools reads the answer to host/tools/list: {tools: […]}, an array, or either in a
// result. One entry that has no name makes all of it an error.
func ParseTools(answer *Message) ([]Tool, error) {
	entries, ok := list(answer.Root.Member("result"), "tools")
	if !ok {
		return nil, shapeError(toolsList, "an array of tools, alone or as the member tools")
	}
	tools := []Tool{}
	for _, n := range entries.Elements() {
		name := text(n.Member("name"))
		if name == "" {
			return nil, shapeError(toolsList, "every tool to be an object with a name")
		}
		deprecated := n.Member("deprecated")
		tools = append(tools, Tool{name, description(n), schema(n), deprecated.Kind() == canon.KindBool && deprecated.Bool()})
	}
	return tools, nil
}

func description(n canon.Node) string {
	return cmp.Or(text(n.Member("description")), text(n.Member("short_description")))
}

// schema returns the first of its names that has an object.
func schema(n canon.Node) json.RawMessage {
	for _, name := range [...]string{"schema", "parameters", "input_schema"} {
		if s := n.Member(name); s.Kind() == canon.KindObject {
			return s.AppendCanonical(nil)
		}
	}
	return json.RawMessage("null")
}

// An Invocation calls a tool of the host, by builtin_call: one payload is all it gets.
type Invocation struct {
	Name string `json:"name"`
	Args any    `json:"args"`

	Meta *Meta `json:"_meta,omitempty"`
}

// Meta is where members of the runtime's own are.
type Meta struct {
	Harn struct {
		ToolCallID string `json:"toolCallId"`
	} `json:"harn"`
}

// Invoke calls a tool. The id is that of the call of which updates tell, so that both are
// one call in a receipt; "": none do.
func Invoke(name string, args any, callID string) Invocation {
	i := Invocation{Name: name, Args: args}
	if callID != "" {
		i.Meta = new(Meta)
		i.Meta.Harn.ToolCallID = callID
	}
	return i
}

// CategoryOf says in a word of the protocol why a tool of the host failed.
func CategoryOf(err error) string {
	fault, answered := errors.AsType[*Error](err)
	switch {
	case answered && fault.Code == CodeRejected:
		return "permission_denied"
	case answered:
		return "host_bridge_error"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, ErrHungUp), errors.Is(err, ErrStalled):
		return "host_bridge_error"
	}
	return "unknown"
}
