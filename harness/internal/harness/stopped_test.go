package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt"
)

// callTool returns a module that calls a single tool.
func callTool(name string) harness.Module {
	return func(ctx context.Context, s harness.Supply, _ json.RawMessage) (string, error) {
		r, err := s.Tool(ctx, harness.Call{Name: name, Input: json.RawMessage("{}")})
		return string(r.Output), err
	}
}

// A mill is a tool that waits for some time and then records that it ran, unless it is stopped
// first.
type mill struct {
	mu     sync.Mutex
	ground map[string]bool // by task ID
	deaf   bool            // whether the tool ignores requests to stop
}

func (m *mill) tool() harness.Tool {
	return harness.Tool{Name: "mill", Do: func(ctx context.Context, t *harness.Task, _ json.RawMessage) (harness.Done, error) {
		stop := ctx.Done()
		if m.deaf {
			stop = nil
		}
		select {
		case <-stop:
			return harness.Done{}, ctx.Err()
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ground == nil {
			m.ground = map[string]bool{}
		}
		m.ground[t.ID] = true
		flour := harness.FileWrite{Path: "flour", Operation: "create", After: canon.Sum([]byte(t.ID))}
		return harness.Done{Output: "ground", Writes: []harness.FileWrite{flour}, Egress: []harness.Egress{}}, nil
	}}
}

// TestCanceledAtWork verifies that a receipt lists the effects of a tool even if the task was
// canceled in the meantime, and lists no other effects.
func TestCanceledAtWork(t *testing.T) {
	rounds := testsize.Of(30, 200)
	for _, deaf := range []bool{false, true} {
		o, m := options(t, t.TempDir()), &mill{deaf: deaf}
		o.Tools, o.Module = []harness.Tool{m.tool()}, callTool("mill")
		_, c := start(t, o)
		c.begin()
		stopped := 0
		for range rounds {
			task := c.submit("grind")
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			status, _ := c.do("POST", "/v1/tasks/"+task+"/cancel", object{"reason": "enough"})
			if status == 200 {
				stopped++
			}
			r := c.receipt(task)
			if state := map[int]string{200: "CANCELED", 409: "SUCCEEDED"}[status]; r.Lifecycle.FinalState != state {
				t.Fatalf("%d: %s", status, r.Lifecycle.FinalState)
			}
			m.mu.Lock()
			ground := m.ground[task]
			m.mu.Unlock()
			if (len(r.SideEffects.FSWrites) == 1) != ground {
				t.Errorf("ground: %v, and the receipt has %+v, %+v", ground, r.SideEffects.FSWrites, r.SideEffects.ToolCalls)
			}
		}
		if stopped == 0 {
			t.Error("no task was canceled at work")
		}
	}
}

// TestCanceledForGood verifies that canceling a task does not wait forever for a tool that does not
// return. In that case, the receipt must not state that the tool had no effects.
func TestCanceledForGood(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir())
	begun, end := make(chan bool, 1), make(chan bool)
	o.Tools = []harness.Tool{{Name: "stuck", Do: func(context.Context, *harness.Task, json.RawMessage) (harness.Done, error) {
		begun <- true
		<-end
		return harness.Done{}, nil
	}}}
	o.Module = callTool("stuck")
	_, c := start(t, o)
	defer close(end)
	c.begin()
	task := c.submit("never")
	<-begun
	if got := c.post("/v1/tasks/"+task+"/cancel", 200, nil); got["status"] != "CANCELED" || got["receipt_id"] == nil {
		t.Errorf("%v", got)
	}
	r := c.receipt(task)
	untold := fmt.Sprint(r.Metadata["unreported"])
	if calls := r.SideEffects.ToolCalls; len(calls) != 1 || calls[0].Status != "canceled" || !unreported(r, "/side_effects/fs_writes") || !unreported(r, "/side_effects/tool_calls/0/status") {
		t.Errorf("%+v, not reported: %s", calls, untold)
	}
}

// unreported reports whether a receipt lists a value as unreported.
func unreported(r receipt.Draft, pointer string) bool {
	list, _ := r.Metadata["unreported"].([]any)
	return slices.Contains(list, any(pointer))
}
