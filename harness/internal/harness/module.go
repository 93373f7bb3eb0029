package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Module does the work of a task and returns its final text. It gets all external data from its
// supply, in an order that depends only on that data. It can therefore be run again with the same
// answers after a crash and in a replay.
type Module func(ctx context.Context, s Supply, input json.RawMessage) (string, error)

// A Supply answers the queries of a module.
type Supply interface {
	// Model returns the answer of a model to a conversation. An error means that the task cannot
	// continue.
	Model(ctx context.Context, p Prompt) (Reply, error)

	// Tool returns the result of a tool. An error from the tool is also a result, which the model receives.
	// An error of this function means that the task cannot continue.
	Tool(ctx context.Context, c Call) (Result, error)
}

// A Call is a tool call.
type Call struct {
	Name  string
	Input json.RawMessage // an object
}

// A Result is the result of a tool call.
type Result struct {
	Output json.RawMessage
	Failed bool // the call was denied or failed; only live: in a replay, Output states it
}

// Limits of one task.
const (
	mostRounds = 16 // answers of the model
	mostCalls  = 64 // of tools, in one answer
)

// Agent is the module of the harness. It queries a model and runs the tools that the model calls,
// until the model calls no tool.
func Agent(ctx context.Context, s Supply, input json.RawMessage) (string, error) {
	p := Prompt{Messages: []Turn{{Role: "user", Content: textOf(input)}}}
	for range mostRounds {
		reply, err := s.Model(ctx, p)
		if err != nil {
			return "", err
		}
		said := reply.turn()
		if len(said.Calls) == 0 {
			return said.Content, nil
		}

		if len(said.Calls) > mostCalls {
			return "", &Failure{"agent_loop", fmt.Sprintf("the model calls more than %d tools at once", mostCalls)}
		}
		p.Messages = append(p.Messages, said)
		for _, call := range said.Calls {
			result, err := s.Tool(ctx, Call{call.Function.Name, call.arguments()})
			if err != nil {
				return "", err
			}
			p.Messages = append(p.Messages, Turn{Role: "tool", Content: string(result.Output), CallID: call.ID})
		}
	}
	return "", &Failure{"agent_loop", fmt.Sprintf("the model has not come to an end after %d answers", mostRounds)}
}

// textOf returns the texts of a message, or the entire input if it has none.
func textOf(input json.RawMessage) string {
	var message struct {
		Parts []struct {
			Type, Text string
		}
	}
	text := ""
	if json.Unmarshal(input, &message) == nil {
		for _, part := range message.Parts {
			if part.Type == "text" {
				text += part.Text
			}
		}
	}
	if text == "" {
		text = string(input)
	}
	return text
}

// A Failure is the reason why a task failed, for the client that submitted it.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the code and the message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// failureOf returns the failure of an error. The text of an error that is not a Failure is not
// passed on.
func failureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return internal()
}

// internal returns a failure without details.
func internal() *Failure { return &Failure{"internal_error", "the task could not be finished"} }
