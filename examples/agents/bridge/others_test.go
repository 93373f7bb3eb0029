package bridge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
)

// other names who this program is when a test starts it as the other side.
const other = "BRIDGE_OTHER_SIDE"

func TestMain(m *testing.M) {
	if name := os.Getenv(other); name != "" {
		signal.Ignore(syscall.SIGPIPE)
		others()[name](bufio.NewReader(os.Stdin), os.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// others are the other sides: a whole one of each kind, and those that do something wrong.
func others() map[string]func(*bufio.Reader, io.Writer) {
	answer := func(id string, result string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n"
	}
	line := func(in *bufio.Reader) *Message {
		text, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(3)
		}
		m, fault := parse(bytes.TrimSpace(text))
		if fault != nil {
			os.Exit(4)
		}
		return m
	}
	return map[string]func(*bufio.Reader, io.Writer){
		"host":    func(in *bufio.Reader, out io.Writer) { os.Exit(hostMain(in, out)) },
		"runtime": func(in *bufio.Reader, out io.Writer) { os.Exit(runtimeMain(in, out)) },

		"out of order": func(in *bufio.Reader, out io.Writer) {
			var asked []*Message
			for range 20 {
				asked = append(asked, line(in))
			}
			for i := range asked {
				m := asked[len(asked)-1-i]
				io.WriteString(out, answer(m.key(), string(m.Params.Member("n").Raw())))
			}
			io.Copy(io.Discard, in)
		},
		"other spellings of an id": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			io.WriteString(out, answer(`"`+id+`"`, `"a string"`)+answer(`{"a":1}`, `1`)+answer("null", `1`)+answer(id+".0", `"the number"`)+answer(id, `"again"`))
			io.Copy(io.Discard, in)
		},
		"in pieces": func(in *bufio.Reader, out io.Writer) {
			for _, c := range []byte("\r\n  " + answer(line(in).key(), `"whole"`)) {
				out.Write([]byte{c})
				time.Sleep(time.Millisecond)
			}
		},
		"without a line feed": func(in *bufio.Reader, out io.Writer) {
			io.WriteString(out, strings.TrimSpace(answer(line(in).key(), `"whole"`)))
		},
		"half a line": func(in *bufio.Reader, out io.Writer) {
			text := answer(line(in).key(), `{"granted":true}`)
			io.WriteString(out, text[:len(text)-4])
		},
		"dies": func(in *bufio.Reader, out io.Writer) {
			for range 10 {
				line(in)
			}
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			time.Sleep(time.Hour)
		},
		"long lines": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			fill := func(text string) { // MaxLine bytes
				piece := strings.Repeat(text, 32<<10)
				for n := 0; n < MaxLine; n += len(piece) {
					io.WriteString(out, piece[:min(len(piece), MaxLine-n)])
				}
			}
			io.WriteString(out, `{"jsonrpc":"2.0","id":`+id)
			fill(" ")
			io.WriteString(out, `,"result":"too long"}`+"\n"+answer(id, `"short"`))
			fill("x")
			io.WriteString(out, "\n")
			io.Copy(io.Discard, in)
		},
		"nonsense": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			for _, text := range nonsense(id) {
				io.WriteString(out, text+"\n\n")
			}
			io.WriteString(out, answer(id, `"sense"`))
			io.Copy(io.Discard, in)
		},
		"asks": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			var told strings.Builder
			for _, ask := range []string{"1", `"1"`, "1.5", `"ä\u0000"`, "-7", `""`, id} {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"method":"what/is"}`+"\n", ask)
				m := line(in)
				fmt.Fprintf(&told, "%s:%v ", m.ID.Raw(), m.Root.Member("error").Member("code").Float())
			}
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":null,"method":"what/is"}`+"\n"+`{"jsonrpc":"2.0","method":"what/is"}`+"\n")
			io.WriteString(out, answer(id, encoded1(told.String())))
			io.Copy(io.Discard, in)
		},
		"late": func(in *bufio.Reader, out io.Writer) {
			first := line(in)
			second := line(in) // the first was given up by now
			io.WriteString(out, answer(first.key(), `{"granted":true}`)+answer(second.key(), `"in time"`))
			io.Copy(io.Discard, in)
		},
		"error and result": func(in *bufio.Reader, out io.Writer) {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"granted":true},"error":{"code":-32001,"message":"no"}}`+"\n", line(in).key())
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":7,"error":null}`+"\n", line(in).key())
			io.Copy(io.Discard, in)
		},
		"the same id": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			for range 2 {
				io.WriteString(out, `{"jsonrpc":"2.0","id":"a","method":"slow"}`+"\n")
			}
			refused := line(in)
			io.WriteString(out, `{"jsonrpc":"2.0","method":"go on"}`+"\n")
			answered := line(in)
			io.WriteString(out, `{"jsonrpc":"2.0","id":"a","method":"slow"}`+"\n"+`{"jsonrpc":"2.0","method":"go on"}`+"\n")
			again := line(in)
			io.WriteString(out, answer(id, encoded1(fmt.Sprintf("%s %s %s", refused.Root.Member("id").Raw(), answered.ID.Raw(), again.ID.Raw()))))
			io.Copy(io.Discard, in)
		},
		"too many": func(in *bufio.Reader, out io.Writer) {
			id := line(in).key()
			for n := range MaxOpen + 1 {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"method":"slow"}`+"\n", n)
			}
			refused := line(in)
			for range MaxOpen {
				io.WriteString(out, `{"jsonrpc":"2.0","method":"go on"}`+"\n")
				line(in)
			}
			io.WriteString(out, answer(id, string(refused.Root.Member("error").Member("code").Raw())))
			io.Copy(io.Discard, in)
		},
		"deaf":   func(_ *bufio.Reader, out io.Writer) { time.Sleep(time.Hour) },
		"closes": func(in *bufio.Reader, out io.Writer) { os.Stdin.Close(); time.Sleep(time.Minute) },
		"hangs up while asked": func(in *bufio.Reader, out io.Writer) {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"last","method":"slow"}`)
			out.(*os.File).Close() // its own output: it still reads
			text, _ := in.ReadString('\n')
			os.WriteFile(os.Getenv("BRIDGE_HEARD"), []byte(text), 0o600)
		},
	}
}

func encoded1(s string) string { text, _ := encoded(s, nil); return string(text) }

// nonsense is what is no message, or is not for the other side to say.
func nonsense(id string) []string {
	return []string{
		`{`, `no JSON`, `[]`, `[{"jsonrpc":"2.0","id":` + id + `,"result":1}]`, `"text"`, `{}`, `{"jsonrpc":"2.0"}`, "\xef\xbb\xbf{}", "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
		`{"jsonrpc":"1.0","id":` + id + `,"result":1}`, `{"id":` + id + `,"result":1}`, `{"jsonrpc":"2.0","id":` + id + `}`,
		`{"jsonrpc":"2.0","id":` + id + `,"result":1,"result":2}`, `{"jsonrpc":"2.0","id":` + id + `,"id":9,"result":1}`,
		`{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":""}`, `{"jsonrpc":"2.0","method":null}`, `{"jsonrpc":"2.0","method":"x","params":"text"}`,
		`{"jsonrpc":"2.0","method":"x","id":{}}`, `{"jsonrpc":"2.0","method":"x","id":[]}`, `{"jsonrpc":"2.0","method":"x","id":true}`,
		`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 5000) + `"}`, `{"jsonrpc":"2.0","method":"x","id":"` + strings.Repeat("x", 5000) + `"}`,
		`{"jsonrpc":"2.0","id":` + id + `,"result":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}`,

		// What a host does not say.
		`{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"builtin_call","params":{"name":"x"}}`,
	}
}

// A side is a Peer of a test whose other side is another process.
type side struct {
	*Peer
	process *exec.Cmd
	ended   chan error // of Run
	in, out io.Closer  // of the other side

	mu  sync.Mutex
	log bytes.Buffer
}

func (s *side) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(text)
}

// logged is the log so far.
func (s *side) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// face starts the other side as a process of its own, which ends with the test.
func face(t *testing.T, name string, o Options, env ...string) *side {
	t.Helper()
	s := &side{process: exec.Command(os.Args[0]), ended: make(chan error, 1)}
	s.process.Env = append(append(os.Environ(), other+"="+name), env...)
	s.process.Stderr = os.Stderr
	in, err := s.process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}

	if o.Role == "" {
		o.Role = frames.SenderAgent
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = NewLog(s).Frame
	}
	s.in, s.out = in, out
	s.Peer = NewPeer(out, in, o)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { s.ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		s.process.Process.Kill()
		s.process.Wait()
		cancel()
	})
	return s
}

// end waits until Run has returned.
func (s *side) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it still runs")
		return nil
	}
}
