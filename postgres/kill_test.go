package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
)

// A crew consists of the processes that issue receipts into a ledger, and their output.
type crew struct {
	address    string
	goroutines int
	drafts     int

	mu           sync.Mutex
	acknowledged map[string]string // hash by ID
	kills        int
}

// run runs a process until it has issued all of its drafts. If the process is killed, it is started
// again and issues the same drafts. Each process is killed at most kills times.
func (c *crew) run(t *testing.T, process, kills int) {
	for {
		worker := exec.Command(os.Args[0])
		worker.Env = append(os.Environ(), fmt.Sprintf("%s=%s\t%s\t%d\t%d", workerVariable, c.address, fmt.Sprint("p", process), c.goroutines, c.drafts))
		worker.SysProcAttr = &syscall.SysProcAttr{}
		pgserver.EndWithTest(worker.SysProcAttr)
		var out strings.Builder
		worker.Stdout, worker.Stderr = &out, os.Stderr
		if err := worker.Start(); err != nil {
			t.Error(err)
			return
		}
		if kills > 0 {
			timer := time.AfterFunc(rand.N(700*time.Millisecond), func() { worker.Process.Kill() })
			defer timer.Stop()
		}

		err := worker.Wait()
		c.record(t, out.String())
		if err == nil {
			return
		}
		if kills--; kills < 0 {
			t.Errorf("process %d: %v", process, err)
			return
		}
		c.mu.Lock()
		c.kills++
		c.mu.Unlock()
	}
}

// record compares the output lines of a process with the lines of all earlier processes. The last
// line may be truncated.
func (c *crew) record(t *testing.T, out string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(out, "\n")
	for _, line := range lines[:len(lines)-1] {
		id, hash, _ := strings.Cut(line, " ")
		if before := c.acknowledged[id]; before != "" && before != hash {
			t.Errorf("%s was acknowledged with the hash %s, and then with %s", id, before, hash)
		}
		c.acknowledged[id] = hash
	}
}

// TestKilled verifies that no acknowledged receipt is lost and no chain forks. Eight processes with
// four goroutines each issue receipts, and both the processes and the server are killed.
func TestKilled(t *testing.T) {
	const processes, goroutines = 8, 4
	drafts, clientKills, serverKills := 6, 1, 2
	if testsize.Full() {
		drafts, clientKills, serverKills = 60, 4, 8
	}
	server := pgserver.Start(t)
	c := &crew{address: create(t, server), goroutines: goroutines, drafts: drafts, acknowledged: map[string]string{}}

	var group sync.WaitGroup
	for p := range processes {
		group.Go(func() { c.run(t, p, clientKills) })
	}
	for range serverKills {
		time.Sleep(200*time.Millisecond + rand.N(300*time.Millisecond))
		server.Kill()
		server.Restart(t)
	}
	group.Wait()

	want := processes * goroutines * drafts
	t.Logf("%d receipts, %d clients and %d servers killed", len(c.acknowledged), c.kills, serverKills)
	if len(c.acknowledged) != want {
		t.Errorf("%d receipts were acknowledged, expected %d", len(c.acknowledged), want)
	}
	wantOneChain(t, open(t, c.address), c.acknowledged, want)
}
