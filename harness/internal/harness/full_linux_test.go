package harness_test

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A held model does not answer until it is released.
type held struct {
	harness.Scripted
	asked, let chan struct{}
}

func (p *held) Complete(ctx context.Context, asked harness.Prompt) (harness.Completion, error) {
	if p.asked != nil {
		p.asked <- struct{}{}
		<-p.let
	}
	return p.Scripted.Complete(ctx, asked)
}

// lengthen makes the log longer than other files that this process writes, so that those files do
// not reach the size limit. One example is the list of files that the command "go test" writes.
func (c *client) lengthen() *client {
	c.t.Helper()
	c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": message(strings.Repeat("x", 1<<20))})
	return c
}

// full limits the size of all files that this process writes. The limit is the current size of the
// file named beyond in dir, plus the given number of bytes.
func full(t *testing.T, dir, beyond string, by int64) (lift func()) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, beyond))
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // without the signal, writes fail as they would on a full disk
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size() + by), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoRoom verifies that, while nothing can be written, no action is performed and success is not
// reported. When space is available again, pending events must be written and tasks must get their
// receipts, without a restart.
func TestNoRoom(t *testing.T) {
	dir, model := t.TempDir(), &held{}
	o := options(t, dir)
	o.Provider = model
	_, c := start(t, o)
	c.begin().lengthen()
	c.reach(c.submit("before"), "COMPLETED")
	model.asked, model.let = make(chan struct{}), make(chan struct{})
	atWork := c.submit("at work")
	<-model.asked

	lift := full(t, dir, "events.jsonl", 20)
	path, asked := "/v1/sessions/"+c.session+"/tasks", object{"input": message("refused at first")}
	refused, text := c.do("POST", path, asked, protocol.IdempotencyHeader, "k")
	again, _ := c.do("POST", path, asked, protocol.IdempotencyHeader, "k")
	model.let <- struct{}{}
	time.Sleep(50 * time.Millisecond) // gives the harness time to write the event or fail
	status := c.get("/v1/tasks/" + atWork)["status"]
	lift()
	if refused != 503 || again != 503 || status != "WORKING" {
		t.Errorf("%d, %d, %v: %s", refused, again, status, text)
	}

	go func() {
		for range model.asked {
			model.let <- struct{}{}
		}
	}()
	defer close(model.asked)
	later := c.submit("refused at first", protocol.IdempotencyHeader, "k")
	for _, task := range []string{atWork, later} {
		c.reach(task, "COMPLETED")
		c.receipt(task)
	}
	if tasks := c.list("/v1/tasks"); len(tasks) != 3 {
		t.Errorf("%d tasks", len(tasks))
	}
}

// TestNoRoomForReceipts verifies that a task whose receipt does not fit on the disk gets the
// receipt when space is available, without a restart.
func TestNoRoomForReceipts(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	for range 3 { // afterward, the longer file is the one to which the ledger appends
		c.reach(c.submit("before"), "COMPLETED")
	}
	const room = 32 << 10
	lift := full(t, dir, "events.jsonl", room)
	task := c.submit("without a receipt")
	ended := func() bool {
		list := c.list("/v1/tasks") // this request does not wait for a receipt
		return list[3]["status"] == "COMPLETED" && list[3]["receipt_id"] == nil
	}
	for n := 0; !ended() && n < 4000; n++ {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // retries during this time must fail
	without := ended()
	lift()
	if !without {
		t.Errorf("expected a task that has ended without a receipt, found %v", c.list("/v1/tasks"))
	}
	c.reach(task, "COMPLETED")
	c.receipt(task)
}

// TestNoRoomToCancel verifies that a task continues if its cancellation cannot be written because
// the disk is full.
func TestNoRoomToCancel(t *testing.T) {
	o, begun := options(t, t.TempDir()), make(chan bool, 9)
	var calls atomic.Int64
	o.Tools = []harness.Tool{{Name: "wait", Again: true, Do: func(ctx context.Context, _ *harness.Task, _ json.RawMessage) (harness.Done, error) {
		begun <- true
		if calls.Add(1) == 1 {
			<-ctx.Done()
			return harness.Done{}, ctx.Err()
		}
		return harness.Done{Output: "done"}, nil
	}}}
	o.Module = callTool("wait")
	_, c := start(t, o)
	c.begin().lengthen()
	task := c.submit("wait")
	<-begun
	lift := full(t, o.Dir, "events.jsonl", 20)
	status, text := c.do("POST", "/v1/tasks/"+task+"/cancel", nil, protocol.IdempotencyHeader, "k")
	ready, _ := c.do("GET", "/readyz", nil)
	lift()
	if status != 503 || ready != 503 {
		t.Errorf("%d %s, /readyz %d", status, text, ready)
	}
	c.reach(task, "COMPLETED")
	if again, text := c.do("POST", "/v1/tasks/"+task+"/cancel", nil, protocol.IdempotencyHeader, "k"); again != 409 {
		t.Errorf("%d %s", again, text)
	}
	if ready, _ := c.do("GET", "/readyz", nil); ready != 200 {
		t.Errorf("/readyz %d when there is room again", ready)
	}
}
