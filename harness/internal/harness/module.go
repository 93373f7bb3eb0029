package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Module performs a task and returns the final text. It gets all external data from its supply,
// and the order of its queries depends only on that data. Therefore, it can be run again with the
// same answers, after a crash or in a replay.
type Module func(ctx context.Context, s Supply, input json.RawMessage) (string, error)

// A Supply answers the queries of a module.
type Supply interface {
	// Model returns a model's answer to a conversation. An error means that the task cannot
	// continue.
	Model(ctx context.Context, p Prompt) (Reply, error)

	// Tool returns the result of a tool call. An error from the tool itself is part of the result,
	// which the model receives. If the method returns an error, the task cannot continue.
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
	Failed bool // whether the call was denied or failed; not set in a replay, where Output states it
}

// These constants limit a single task.
const (
	mostRounds = 16 // maximum number of answers from the model
	mostCalls  = 64 // maximum number of tool calls in one answer
)

// Agent is the module that the harness runs. It queries a model and runs the tools that the model
// calls, until the model no longer calls a tool.
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

// textOf returns the text in the parts of a message, or the entire input if there is none.
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

// A Failure states why a task failed, for the client that submitted the task.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the code and the message of the failure.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// failureOf returns the failure that corresponds to an error. If the error is not a Failure, its
// text is not passed on.
func failureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return internal()
}

// internal returns a failure that contains no details.
func internal() *Failure { return &Failure{"internal_error", "the task could not be finished"} }
