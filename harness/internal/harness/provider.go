package harness

import (
	"context"
	"encoding/json"
	"strings"
)

// A Provider queries a model.
type Provider interface {
	// Name returns the names of the provider and the model.
	Name() (provider, model string)

	// Complete returns the model's answer and the token counts.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// A Prompt is a conversation that a model should continue.
type Prompt struct {
	Messages []Turn `json:"messages"`
}

// A Turn is a message in a conversation, in the chat completions format.
type Turn struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// A ToolCall is a tool call that a model requests.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// A Function consists of the name of a tool and its arguments as JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// arguments returns the arguments as an object, even if the model wrote something else.
func (c *ToolCall) arguments() json.RawMessage {
	var members map[string]any
	if json.Unmarshal([]byte(c.Function.Arguments), &members) != nil || members == nil {
		members = map[string]any{"text": c.Function.Arguments}
	}
	return object(members).json()
}

// A Completion is a model's answer with its token counts. An unknown count is nil instead of zero.
type Completion struct {
	Reply                     Reply
	InputTokens, OutputTokens *int64
}

// A Reply is a model's answer as a JSON value, in the format of a chat completion.
type Reply json.RawMessage

// turn returns the message in a reply. If the reply is not a message, turn returns the JSON text of
// the value.
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
	_ = json.Unmarshal(r, &text) // a JSON string is replaced by its value
	return Turn{Role: "assistant", Content: text}
}

// replyOf returns a reply that contains a message.
func replyOf(m Turn) Reply {
	m.Role = "assistant"
	return Reply(object{"choices": []any{object{"message": m}}}.json())
}

// Scripted is a provider that does not use a model. Its answers depend on the words in the first
// message.
//
//	/ask QUESTION   asks the person
//	/write TEXT     writes a file if the person approves
//	/wait           waits until it is canceled
//	/fail WHY       fails
//	anything else   reads the clock and repeats the message
type Scripted struct{}

// Name returns the name of the script.
func (Scripted) Name() (provider, model string) { return "scripted", "script-1" }

// Complete returns an answer that depends on the first message and the subsequent results.
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
