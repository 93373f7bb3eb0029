package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Module does the work of a task, and returns what it has to say in the end. Whatever it gets
// from outside, it gets from its supply, in an order that depends on nothing else: so it can be
// run again with the same answers, after a crash and in a replay.
type Module func(ctx context.Context, s Supply, input json.RawMessage) (string, error)

// A Supply answers what a module asks.
type Supply interface {
	// Model returns what a model answers to a conversation. The error says that the task cannot
	// go on.
	Model(ctx context.Context, p Prompt) (Reply, error)

	// Tool returns what a tool returned, an error of the tool too: that is for the model. The
	// error says that the task cannot go on.
	Tool(ctx context.Context, c Call) (Result, error)
}

// A Call is one of a tool.
type Call struct {
	Name  string
	Input json.RawMessage // an object
}

// A Result is what a tool returned.
type Result struct {
	Output json.RawMessage
	Failed bool // the call was refused, or went wrong; live only: of a replay Output tells
}

// What is asked for in one task.
const (
	mostRounds = 16 // answers of the model
	mostCalls  = 64 // of tools, in one answer
)

// Agent is the module of the harness: a model is asked, and calls tools until it has nothing
// more to ask for.
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

// textOf is what an input says: the texts of a message, or else all of it.
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

// A Failure is why a task failed, in words for whoever submitted it.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error gives both.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// failureOf is the failure of an error. One that is no Failure is shown to nobody.
func failureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return internal()
}

// internal is a failure of which nobody else is told more.
func internal() *Failure { return &Failure{"internal_error", "the task could not be finished"} }
