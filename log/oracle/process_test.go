package oracle_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// build compiles the command and returns its path.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt-log")
	out, err := exec.Command("go", "build", "-C", "..", "-o", path, "./cmd/receipt-log").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// freeAddress returns a local address that no process uses. On Linux, its IP address is random, so
// that no other test uses the port while the process that listens on it is killed and started again.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A process is a command that is started again whenever it is killed.
type process struct {
	path string
	args []string

	mu      sync.Mutex
	running *exec.Cmd
	over    bool // whether the command must not be started again
	kills   int
	out     bytes.Buffer // stdout of all runs
	lastErr bytes.Buffer // stderr of the last run
	result  error        // the result of the last run
	done    chan struct{}
}

// start runs a command until it exits without being killed, or until stop is called.
func start(path string, args ...string) *process {
	p := &process{path: path, args: args, done: make(chan struct{})}
	go p.loop()
	return p
}

func (p *process) loop() {
	defer close(p.done)
	for {
		p.mu.Lock()
		if p.over {
			p.mu.Unlock()
			return
		}
		var out, errs bytes.Buffer
		cmd := exec.Command(p.path, p.args...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Start()
		p.running = cmd
		p.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
		}

		p.mu.Lock()
		// If the process was killed, its last line may be truncated, so that line is not an
		// acknowledgment.
		whole := out.Bytes()[:bytes.LastIndexByte(out.Bytes(), '\n')+1]
		p.out.Write(whole)
		p.running, p.lastErr, p.result = nil, errs, err
		killed := cmd.ProcessState != nil && !cmd.ProcessState.Exited()
		p.mu.Unlock()
		if !killed {
			return
		}
	}
}

// kill kills the process if it is running, and reports whether it did.
func (p *process) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.running.Process.Kill() != nil {
		return false
	}
	p.kills++
	return true
}

// stop kills the process and prevents further runs.
func (p *process) stop() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.kill()
	<-p.done
}

// ended reports whether the process exited without being killed.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// lines returns the lines that all runs printed to stdout.
func (p *process) lines() []string {
	return strings.FieldsFunc(p.out.String(), func(r rune) bool { return r == '\n' })
}

// killer kills the given processes (the witness, the log, and the appenders) at random times, until
// the given number of kills is reached. It kills each process once, in order, and then chooses
// processes at random.
func killer(processes []*process, kills int, random *rand.Rand) (done int) {
	for done < kills {
		time.Sleep(time.Duration(20+random.IntN(300)) * time.Millisecond)
		next := random.IntN(len(processes))
		if done < len(processes) { // kill each process at least once
			next = done
		}
		if processes[next].kill() {
			done++
		}
		running := false
		for _, p := range processes[2:] {
			running = running || !p.ended()
		}
		if !running {
			return done
		}
	}
	return done
}

// size returns the number of receipts and the number of kills. Both are read from the variable
// RECEIPT_LOG_CRASHES, for example "10000,100". By default, the test takes a few seconds.
func size(t *testing.T) (receipts, kills int) {
	t.Helper()
	receipts, kills = 300, 12
	if text := os.Getenv("RECEIPT_LOG_CRASHES"); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d", &receipts, &kills); err != nil {
			t.Fatalf("RECEIPT_LOG_CRASHES=%q: expected two numbers: %v", text, err)
		}
	}
	return receipts, kills
}

// acknowledged returns the index of each hash, read from the output lines of the appenders.
func acknowledged(t *testing.T, appenders []*process) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	for _, p := range appenders {
		for _, line := range p.lines() {
			words := strings.Fields(line)
			index, err := strconv.ParseUint(words[0], 10, 64)
			if err != nil || len(words) < 3 {
				t.Fatalf("line %q", line)
			}
			if other, again := found[words[1]]; again && other != index {
				t.Errorf("%s was acknowledged with the indexes %d and %d", words[1], other, index)
			}
			found[words[1]] = index
		}
	}
	return found
}
