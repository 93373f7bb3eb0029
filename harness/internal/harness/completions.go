package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Completions is a provider that queries a model over HTTP in the common chat completions format.
// It sends the name of the model, the messages, and the tools in a POST request to URL.
type Completions struct {
	URL   string // such as http://127.0.0.1:11434/v1/chat/completions
	Model string
	Key   string // sent as a bearer token, unless it is empty
}

// These constants limit a query.
const (
	mostReply  = 4 << 20
	mostAsking = 2 * time.Minute
)

// Name returns the name of the model.
func (c *Completions) Name() (provider, model string) { return "chat_completions", c.Model }

// Complete queries the model. Its errors do not contain the provider's errors, which may quote the
// key.
func (c *Completions) Complete(ctx context.Context, p Prompt) (Completion, error) {
	ctx, cancel := context.WithTimeout(ctx, mostAsking)
	defer cancel()
	body := object{"model": c.Model, "messages": p.Messages, "tools": offered()}.json()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return Completion{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Completion{}, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, mostReply+1))
	switch {
	case err != nil:
		return Completion{}, err
	case response.StatusCode != http.StatusOK:
		return Completion{}, &Failure{"upstream_unavailable", fmt.Sprintf("the provider answered with the status %d", response.StatusCode)}
	case len(data) > mostReply:
		return Completion{}, &Failure{"upstream_unavailable", "the provider's answer is too long"}
	}
	return readCompletion(data)
}

// readCompletion parses the provider's response. Values that the response lacks, such as token
// counts, remain unknown.
func readCompletion(data []byte) (Completion, error) {
	var answer struct {
		Choices []struct{ Message Turn }
		Usage   struct {
			Input  *int64 `json:"prompt_tokens"`
			Output *int64 `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Choices) == 0 {
		return Completion{}, &Failure{"upstream_unavailable", "the provider's answer is no chat completion"}
	}
	return Completion{Reply: Reply(data), InputTokens: answer.Usage.Input, OutputTokens: answer.Usage.Output}, nil
}

// offered describes the tools that a model may call.
func offered() []object {
	text := func(name, about string) object {
		return object{"type": "object", "properties": object{name: object{"type": "string", "description": about}}, "required": []string{name}}
	}
	tool := func(name, about string, parameters object) object {
		return object{"type": "function", "function": object{"name": name, "description": about, "parameters": parameters}}
	}
	return []object{
		tool("clock.now", "Tells the time.", object{"type": "object", "properties": object{}}),
		tool(askTool, "Asks the person something.", text("question", "What is asked.")),
		tool("note.write", "Writes a note, when the person agrees.", text("text", "The note.")),
	}
}
