package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// runners are processes that run the commands of scripts, one after another, because starting a
// process takes longer than running most commands. At full size, scripts take turns: in
// its turn, a script starts a process for each command, as if it used exec.
type runners struct {
	without []string // names of scripts that start a process for each command
	mu      sync.Mutex
	idle    []*runner
}

type runner struct {
	process *exec.Cmd
	stdin   io.Closer // closing this pipe ends the process
	asks    *json.Encoder
	tells   *json.Decoder
}

// An order is a command for a runner. A ran is the result of an order.
type (
	order struct {
		Dir       string
		Variables []string // NAME=VALUE
		Args      []string
		Stdin     []byte
	}
	ran struct {
		Code     int
		Out, Err []byte
	}
)

// newRunners returns runners that stop when the test ends.
func newRunners(t *testing.T) *runners {
	all := &runners{}
	t.Cleanup(func() {
		for _, r := range all.idle {
			r.stdin.Close()
			if err := r.process.Wait(); err != nil {
				t.Error(err)
			}
		}
	})
	return all
}

// exits implements the same script command as the function exits, but uses a runner if the program
// is receipt.
func (all *runners) exits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || args[1] != "receipt" || slices.Contains(all.without, ts.Name()) {
		exits(ts, neg, args)
		return
	}
	expectExit(ts, neg, args, func() int {
		became := all.run(ts, args[2:])
		ts.Stdout().Write(became.Out)
		ts.Stderr().Write(became.Err)
		return became.Code
	})
}

// field returns a settable reference to an unexported field of a script.
func field(ts *testscript.TestScript, name string) reflect.Value {
	v := reflect.ValueOf(ts).Elem().FieldByName(name)
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// run runs receipt in the directory of a script.
func (all *runners) run(ts *testscript.TestScript, args []string) ran {
	if slices.Contains(all.without, ts.Name()) {
		return process(ts, args)
	}
	stdin := field(ts, "stdin")
	o := order{Dir: ts.MkAbs("."), Args: args, Stdin: []byte(stdin.String())}
	stdin.SetString("") // a script's stdin applies only to the next command
	for _, variable := range field(ts, "env").Seq2() {
		o.Variables = append(o.Variables, variable.String())
	}
	o.Variables = append(o.Variables, "PWD="+o.Dir) // as with ts.Exec

	var became ran
	r, err := all.take()
	ts.Check(err)
	ts.Check(errors.Join(r.asks.Encode(o), r.tells.Decode(&became)))
	all.mu.Lock()
	all.idle = append(all.idle, r)
	all.mu.Unlock()
	return became
}

// take returns an idle runner, or starts a new one if none is idle.
func (all *runners) take() (*runner, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if n := len(all.idle); n > 0 {
		r := all.idle[n-1]
		all.idle = all.idle[:n-1]
		return r, nil
	}

	cmd := exec.Command("receipt-runner")
	cmd.Stderr = os.Stderr // prints a runner's panic
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &runner{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, cmd.Start()
}

// serveOrders is the main function of a runner.
func serveOrders() {
	messages := sync.OnceValues(cli.CompileMessages)
	processors := runtime.GOMAXPROCS(0)
	orders, became := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}

		if err := os.Chdir(o.Dir); err != nil {
			panic(err)
		}
		os.Clearenv()
		for _, v := range o.Variables {
			name, value, _ := strings.Cut(v, "=")
			if err := os.Setenv(name, value); err != nil {
				panic(err)
			}
		}
		runtime.GOMAXPROCS(processors) // "receipt verify --jobs" sets the value for the entire process

		var out, told bytes.Buffer
		code := run(context.Background(), o.Args, &cli.Env{
			In: bytes.NewReader(o.Stdin), Out: &out, Err: &told,
			Getenv: os.Getenv, Now: time.Now, Piped: true, Messages: messages, Config: cli.DefaultsFile(os.LookupEnv),
		})
		if err := became.Encode(ran{code, out.Bytes(), told.Bytes()}); err != nil {
			panic(err)
		}
	}
}
