package harness

import (
	"context"
	"encoding/json"
	"strings"
)

// A Provider queries a model.
type Provider interface {
	// Name returns the names of the provider and of the model.
	Name() (provider, model string)

	// Complete returns the model's answer and its token counts.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// A Prompt is a conversation for a model to continue.
type Prompt struct {
	Messages []Turn `json:"messages"`
}

// A Turn is a message of a conversation in the chat completions format.
type Turn struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// A ToolCall is a call that a model requests.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// A Function is the name of a tool and its arguments as JSON text.
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

// A Completion is an answer of a model. Unknown counts are nil, not zero.
type Completion struct {
	Reply                     Reply
	InputTokens, OutputTokens *int64
}

// A Reply is a model's answer: a JSON value, as in a chat completion.
type Reply json.RawMessage

// turn returns the message in a reply. For any other value, it is the JSON text of the value.
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
	_ = json.Unmarshal(r, &text) // for a string, the text is the string itself
	return Turn{Role: "assistant", Content: text}
}

// replyOf returns a reply with a message.
func replyOf(m Turn) Reply {
	m.Role = "assistant"
	return Reply(object{"choices": []any{object{"message": m}}}.json())
}

// Scripted is a provider without a model. It follows the words of the first message.
//
//	/ask QUESTION   asks the person
//	/write TEXT     writes a file if the person approves
//	/wait           waits until it is canceled
//	/fail WHY       fails
//	anything else   reads the clock and repeats the message
type Scripted struct{}

// Name returns the name of the script.
func (Scripted) Name() (provider, model string) { return "scripted", "script-1" }

// Complete answers based on the first message and the subsequent results.
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
