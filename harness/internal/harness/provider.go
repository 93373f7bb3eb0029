package harness

import (
	"context"
	"encoding/json"
	"strings"
)

// A Provider asks a model.
type Provider interface {
	// Name says which provider and which model are asked.
	Name() (provider, model string)

	// Complete returns what the model answers, and what that took.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// A Prompt is a conversation that a model is to continue.
type Prompt struct {
	Messages []Turn `json:"messages"`
}

// A Turn is a message of a conversation, in the form of chat completions.
type Turn struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// A ToolCall is the wish of a model.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// A Function is a tool, and what it is called with: a JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// arguments are an object, whatever the model wrote.
func (c *ToolCall) arguments() json.RawMessage {
	var members map[string]any
	if json.Unmarshal([]byte(c.Function.Arguments), &members) != nil || members == nil {
		members = map[string]any{"text": c.Function.Arguments}
	}
	return object(members).json()
}

// A Completion is an answer of a model. What is not known is nil: absent is not zero.
type Completion struct {
	Reply                     Reply
	InputTokens, OutputTokens *int64
}

// A Reply is what a model answered: a JSON value, as a chat completion has it.
type Reply json.RawMessage

// turn is the message in a reply. Of a value of another form it is its text.
func (r Reply) turn() Turn {
	var answer struct {
		Choices []struct{ Message Turn }
	}
	if json.Unmarshal(r, &answer) == nil && len(answer.Choices) > 0 {
		m := answer.Choices[0].Message
		m.Role = "assistant"
		return m
	}
	text := string(r)
	_ = json.Unmarshal(r, &text) // a string is its own text
	return Turn{Role: "assistant", Content: text}
}

// replyOf is a reply with a message.
func replyOf(m Turn) Reply {
	m.Role = "assistant"
	return Reply(object{"choices": []any{object{"message": m}}}.json())
}

// Scripted is a provider without a model: it does what the words say.
//
//	/ask QUESTION   asks the person
//	/write TEXT     writes a file, when the person agrees
//	/wait           waits until it is canceled
//	/fail WHY       fails
//	anything else   looks at the clock, and says it again
type Scripted struct{}

// Name is that of no model.
func (Scripted) Name() (provider, model string) { return "scripted", "script-1" }

// Complete answers by the first message and the results that followed.
func (Scripted) Complete(ctx context.Context, p Prompt) (Completion, error) {
	verb, rest, _ := strings.Cut(p.Messages[0].Content, " ")
	last := p.Messages[len(p.Messages)-1]
	answer := func(m Turn) (Completion, error) { return Completion{Reply: replyOf(m)}, nil }
	call := func(tool string, input object) (Completion, error) {
		return answer(Turn{Calls: []ToolCall{{ID: "call", Type: "function", Function: Function{tool, string(input.json())}}}})
	}

	switch {
	case verb == "/fail":
		return Completion{}, &Failure{"script", rest}
	case verb == "/wait":
		<-ctx.Done()
		return Completion{}, ctx.Err()
	case last.Role == "tool" && (verb == "/ask" || verb == "/write"):
		return answer(Turn{Content: last.Content})
	case last.Role == "tool":
		return answer(Turn{Content: "You said: " + p.Messages[0].Content})
	case verb == "/ask":
		return call("person.ask", object{"question": rest})
	case verb == "/write":
		return call("note.write", object{"text": rest})
	}
	return call("clock.now", object{})
}
