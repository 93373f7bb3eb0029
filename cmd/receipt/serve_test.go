package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/server"
)

// patient is the longest time that tests wait for an expected event.
const patient = time.Minute

// A running server is a process that was started with "receipt serve".
type running struct {
	t   *testing.T
	cmd *exec.Cmd
	url string

	mu     sync.Mutex
	log    bytes.Buffer
	grown  chan struct{} // something was logged
	ended  chan struct{}
	status int
}

// Write receives the text that the process prints to stderr.
func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Write(p)
	select {
	case r.grown <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (r *running) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// startServe starts the command and waits until it listens.
func startServe(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return startLine(t, dir, exec.Command("receipt", append([]string{"serve"}, args...)...))
}

func startLine(t *testing.T, dir string, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, cmd: cmd, grown: make(chan struct{}, 1), ended: make(chan struct{})}
	cmd.Dir, cmd.Stderr = dir, r
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "RECEIPT_KEYS=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		r.status = cmd.ProcessState.ExitCode()
		close(r.ended)
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-r.ended })
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		<-r.ended
		t.Fatalf("%q does not listen: %q, %v\n%s", cmd.Args, line, err, r.logged())
	}
	r.url = url
	return r
}

// signal sends a signal to the process.
func (r *running) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// exits waits for the process to end and returns its exit code, or -1 if a signal ended the
// process.
func (r *running) exits() int {
	r.t.Helper()
	select {
	case <-r.ended:
		return r.status
	case <-time.After(patient):
		r.t.Fatalf("still running:\n%s", r.logged())
		return 0
	}
}

// logs waits until the process logs the given text.
func (r *running) logs(text string) {
	r.t.Helper()
	timeout := time.After(patient)
	for !strings.Contains(r.logged(), text) {
		select {
		case <-r.grown:
		case <-timeout:
			r.t.Fatalf("%q was not logged:\n%s", text, r.logged())
		}
	}
}

// do sends a request and returns the response. Each header has the form "Name: value".
func (r *running) do(method, path, body string, headers ...string) (status int, answer string) {
	r.t.Helper()
	q, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			q.Host = value
		}
		q.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patient}
	resp, err := client.Do(q)
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", method, path, err, r.logged())
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// expects sends a request, and checks that the response has the given status and contains the given
// string.
func (r *running) expects(status int, holds, method, path, body string, headers ...string) {
	r.t.Helper()
	if got, answer := r.do(method, path, body, headers...); got != status || !strings.Contains(answer, holds) {
		r.t.Errorf("%s %s: %d %.500s\nexpected %d, %s", method, path, got, answer, status, holds)
	}
}

// until repeats a request until the response contains a string, because the server detects changes
// with a delay.
func (r *running) until(holds, method, path, body string, headers ...string) {
	r.t.Helper()
	deadline := time.Now().Add(patient)
	for {
		_, answer := r.do(method, path, body, headers...)
		if strings.Contains(answer, holds) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s %s: %.500s\nexpected %s\n%s", method, path, answer, holds, r.logged())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

const (
	version  = "Harn-Agents-Protocol-Version: agents-protocol-2026-04-25"
	jsonType = "Content-Type: application/json"
)

// serveDir creates a directory that contains the files used by the examples.
func serveDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range exampleFiles(t) {
		writeFile(t, filepath.Join(dir, name), data)
	}
	return dir
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	data := readFixture(t, name)
	return string(data)
}

// receiptIn runs the command in a directory.
func receiptIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("receipt", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestServe verifies that the server provides the features of all flags, and that the command can
// verify the data that the server returns.
func TestServe(t *testing.T) {
	dir := serveDir(t)
	writeFile(t, filepath.Join(dir, "anchors.json"), `{"partner": "keys.json"}`)
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", filepath.Join(dir, "keys.json"), "--issuer", "harness_example_cloud",
		"--receipts", "receipts.jsonl", "--anchors", "anchors.json", "--checkpoint", "checkpoint.txt")
	task := fixture(t, "valid/task.json")
	r.expects(200, `"verdict":"verified"`, "POST", "/v1/verify", task, jsonType)
	r.expects(200, `"verdict":"refuted"`, "POST", "/v1/verify", fixture(t, "malicious/changed-cost.json"), jsonType)
	r.expects(200, `"keys":{"path":"keys.json",`, "POST", "/v1/verify", taskLine(t), "Content-Type: application/x-ndjson")
	r.expects(200, `"receipts":true`, "GET", "/v1", "")
	r.expects(200, `"id":"receipt_01K0TASK"`, "GET", "/v1/receipts/receipt_01K0TASK", "", version)
	r.expects(200, `"valid":true`, "POST", "/v1/receipts/receipt_01K0TASK/verify", `{"trust_anchor":"partner"}`, version, jsonType)
	r.expects(200, `"object":"list"`, "GET", "/v1/tasks/task_01K0TASK/receipts", "", version)
	r.expects(426, "unsupported_protocol_version", "GET", "/v1/receipts/receipt_01K0TASK", "")
	r.expects(404, "resource_not_found", "GET", "/v1/receipts/receipt_unknown", "", version)
	r.expects(200, `"key_2026_04"`, "GET", "/.well-known/jwks.json", "")
	r.expects(200, "ready", "GET", "/readyz", "")
	r.expects(200, "<!doctype html>", "GET", "/", "")
	r.expects(200, "receipt_key_reloads_total", "GET", "/metrics", "")
	r.expects(403, "permission_denied", "GET", "/", "", "Host: attacker.example")
	checkpoint := readFile(t, filepath.Join(dir, "checkpoint.txt"))
	r.expects(200, string(checkpoint), "GET", "/x/checkpoint", "")
	_, proof := r.do("GET", "/x/receipts/receipt_01K0TASK/proof", "")
	writeFile(t, filepath.Join(dir, "given.tlog-proof"), proof)
	receiptIn(t, dir, "verify", "--keys", "keys.json", "--quiet", "--proof", "given.tlog-proof", "receipt.json")
	r.signal(syscall.SIGTERM)
	if code := r.exits(); code != 0 {
		t.Errorf("exit %d\n%s", code, r.logged())
	}
}

// TestServeExamples verifies that the examples in the help text run until they are interrupted.
func TestServeExamples(t *testing.T) {
	needs(t, "sh")
	dir := serveDir(t)
	lines := strings.Split(server.New(testEnv(io.Discard, io.Discard)).Example, "\n")
	if len(lines) != 2 {
		t.Fatalf("%d examples", len(lines))
	}
	r := startLine(t, dir, exec.Command("sh", "-c", "exec "+strings.TrimSpace(lines[0])))
	r.expects(200, "ready", "GET", "/readyz", "")
	r.signal(os.Interrupt)
	if code := r.exits(); code != 0 {
		t.Errorf("%s: exit %d\n%s", lines[0], code, r.logged())
	}
	second := exec.Command("sh", "-c", strings.TrimSpace(lines[1]))
	second.Dir = dir
	if out, err := second.Output(); err != nil || !strings.HasPrefix(string(out), "rk_") {
		t.Errorf("%s: %v, %d bytes", lines[1], err, len(out))
	}
}

// replace replaces a file atomically.
func replace(t *testing.T, path, text string) {
	t.Helper()
	writeFile(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestServeReload verifies that the server uses changed keys and ignores invalid ones.
func TestServeReload(t *testing.T) {
	dir := serveDir(t)
	keys := filepath.Join(dir, "keys.json")
	good := readFile(t, keys)
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", "keys.json")
	task := fixture(t, "valid/task.json")
	verify := func(holds string) {
		t.Helper()
		r.until(holds, "POST", "/v1/verify", task, jsonType)
	}
	verify(`"verdict":"verified"`)
	replace(t, keys, strings.ReplaceAll(string(good), `"key_2026_04"`, `"another"`))
	verify(`"verdict":"undecided"`)
	replace(t, keys, "no key set")
	r.until(`receipt_key_reloads_total{result="failed"} 1`, "GET", "/metrics", "")
	r.expects(200, `"verdict":"undecided"`, "POST", "/v1/verify", task, jsonType) // as before
	r.logs("keys not reloaded")
	replace(t, keys, string(good))
	verify(`"verdict":"verified"`)
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	r.until(`receipt_key_reloads_total{result="failed"} 2`, "GET", "/metrics", "")
	verify(`"verdict":"verified"`)
	r.signal(syscall.SIGHUP) // reload everything
	r.until(`receipt_key_reloads_total{result="failed"} 3`, "GET", "/metrics", "")
	r.signal(syscall.SIGTERM)
	if code := r.exits(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestServeAPIKeys verifies that a client without a key is rejected, and that adding and removing a
// key take effect. The log contains no keys, headers, or request bodies (reliability 325).
func TestServeAPIKeys(t *testing.T) {
	dir := serveDir(t)
	newKey := func(name string) string {
		t.Helper()
		cmd := exec.Command("receipt", "serve", "--new-api-key", name, "--api-keys", "api.jsonl")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	ci := newKey("ci")
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", "keys.json", "--receipts", "receipts.jsonl", "--api-keys", "api.jsonl")
	const path = "/v1/receipts/receipt_01K0TASK"
	r.expects(401, "unauthenticated", "GET", path, "", version)
	r.expects(401, "unauthenticated", "GET", path, "", version, "Authorization: Bearer "+ci+"x")
	r.expects(200, "receipt_01K0TASK", "GET", path, "", version, "Authorization: Bearer "+ci)
	r.expects(401, "unauthenticated", "POST", "/v1/verify", "{}", jsonType)
	r.expects(401, "unauthenticated", "GET", "/x/checkpoint", "")
	r.expects(200, "ready", "GET", "/readyz", "")
	second := newKey("second")
	r.until("receipt_01K0TASK", "GET", path, "", version, "Authorization: Bearer "+second)
	r.expects(200, "report_version", "POST", "/v1/verify?issuer=asked_for_issuer", `{"receipt_id":"body_in_the_log"}`, jsonType, "Authorization: Bearer "+second, "X-Other: header_in_the_log")
	replace(t, filepath.Join(dir, "api.jsonl"), "")
	r.logs("keys not reloaded")
	r.expects(200, "receipt_01K0TASK", "GET", path, "", version, "Authorization: Bearer "+ci) // the server still accepts all clients
	r.signal(syscall.SIGTERM)
	if code := r.exits(); code != 0 {
		t.Errorf("exit %d", code)
	}
	log := r.logged()
	for _, secret := range []string{ci, second, "rk_", "Bearer", "Authorization", "body_in_the_log", "header_in_the_log", "asked_for_issuer", "receipt_01K0TASK"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %.40q:\n%s", secret, log)
		}
	}
	if !strings.Contains(log, `"clients":"with an API key"`) || !strings.Contains(log, `"key":"second"`) {
		t.Errorf("the log does not name who came in:\n%s", log)
	}
}

// An open request is a request whose body is still being sent.
type open struct {
	body   *io.PipeWriter
	answer chan string // "" if the server cut off the request
}

// openRequest starts a request that verifies a stream of receipts and sends some lines. At least
// two lines are required, because a single line is classified only after the next line arrives.
func (r *running) openRequest(lines string) *open {
	r.t.Helper()
	read, write := io.Pipe()
	o := &open{body: write, answer: make(chan string, 1)}
	q, err := http.NewRequest("POST", r.url+"/v1/verify", read)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-ndjson")
	transport := &http.Transport{}
	r.t.Cleanup(func() { write.Close(); transport.CloseIdleConnections() })
	begun := make(chan struct{})
	go func() {
		resp, err := transport.RoundTrip(q)
		if err != nil {
			close(begun)
			o.answer <- ""
			return
		}
		defer resp.Body.Close()
		answer := bufio.NewReader(resp.Body)
		first, _ := answer.ReadString('\n')
		close(begun)
		rest, err := io.ReadAll(answer)
		if err != nil {
			first, rest = "", nil
		}
		o.answer <- first + string(rest)
	}()
	if _, err := io.WriteString(write, lines); err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-begun:
	case <-time.After(patient):
		r.t.Fatalf("the first line was not answered:\n%s", r.logged())
	}
	return o
}

// taskLine returns a receipt as a single line.
func taskLine(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(receiptIn(t, "../..", "canon", "fixtures/valid/task.json")) + "\n"
}

// TestServeShutdown verifies that, during a shutdown, a current request is completed and new
// requests are rejected (reliability 318).
func TestServeShutdown(t *testing.T) {
	line := taskLine(t)
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		r := startServe(t, serveDir(t), "--addr", "127.0.0.1:0", "--keys", "keys.json", "--shutdown-timeout", patient.String())
		o := r.openRequest(line + line)
		r.signal(s)
		r.logs("shutting down")
		for range 1000 { // wait until the server no longer listens
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				break
			}
			conn.Close()
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://")); err == nil {
			t.Error("still takes requests")
		}
		if _, err := io.WriteString(o.body, line); err != nil {
			t.Error(err)
		}
		o.body.Close()
		if answer := <-o.answer; !strings.Contains(answer, `"index":3`) || !strings.Contains(answer, `"complete":true`) {
			t.Errorf("%v: cut off: %q", s, answer)
		}
		if code := r.exits(); code != 0 || !strings.Contains(r.logged(), "stopped") {
			t.Errorf("%v: exit %d\n%s", s, code, r.logged())
		}
	}
}

// TestServeCutOff verifies that a request that does not end is cut off after the timeout, or
// immediately after a second signal. In both cases, the exit code is not 0.
func TestServeCutOff(t *testing.T) {
	line := taskLine(t)
	r := startServe(t, serveDir(t), "--addr", "127.0.0.1:0", "--keys", "keys.json", "--shutdown-timeout", "50ms")
	o := r.openRequest(line + line)
	r.signal(syscall.SIGTERM)
	if code := r.exits(); code != cli.ExitUsage || !strings.Contains(r.logged(), "receipt: error: requests were aborted: they did not end within 50ms") {
		t.Errorf("exit %d\n%s", code, r.logged())
	}
	if answer := <-o.answer; strings.Contains(answer, `"complete":true`) {
		t.Errorf("answered: %q", answer)
	}
	r = startServe(t, serveDir(t), "--addr", "127.0.0.1:0", "--keys", "keys.json", "--shutdown-timeout", "10h")
	r.openRequest(line + line)
	r.signal(syscall.SIGTERM)
	r.logs("shutting down")
	r.signal(syscall.SIGTERM)
	if code := r.exits(); code != cli.ExitUsage || !strings.Contains(r.logged(), "receipt: error: requests were aborted by a second signal") {
		t.Errorf("exit %d\n%s", code, r.logged())
	}
}

// TestServePageOnly verifies that, with --page-only, the server serves only the page and the health
// routes.
func TestServePageOnly(t *testing.T) {
	r := startServe(t, t.TempDir(), "--addr", "127.0.0.1:0", "--page-only")
	r.expects(200, "<!doctype html>", "GET", "/", "")
	r.expects(200, "ok", "GET", "/healthz", "")
	r.expects(200, "ready", "GET", "/readyz", "")
	for _, path := range []string{"/v1", "/v1/verify", "/v1/receipts/a", "/metrics", "/openapi.json", "/.well-known/jwks.json", "/x/checkpoint", "//", "/%2e"} {
		r.expects(404, "resource_not_found", "GET", path, "", version)
		r.expects(404, "resource_not_found", "POST", path, "{}", version, jsonType)
	}
}

// TestServePortInUse verifies that the command prints the reason and exits with code 2 if the port
// is in use (reliability 324).
func TestServePortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		taken.Addr().String(): "the port is in use",
		"192.0.2.1:0":         "this machine has no such address",
	} {
		var out, message bytes.Buffer
		code := run(context.Background(), []string{"serve", "--addr", addr, "--page-only", "--no-auth", "--log-format", "text"}, testEnv(&out, &message))
		if code != cli.ExitUsage || out.Len() > 0 || !strings.Contains(message.String(), `receipt: error: "`+addr+`": `+want+"\nreceipt: hint: ") {
			t.Errorf("%s: exit %d\n%s%s", addr, code, &out, &message)
		}
	}
	denied := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}
	if err := server.ListenFailure("127.0.0.1:80", denied); !strings.Contains(err.Error(), "may not listen") {
		t.Error(err)
	}
	if err := server.ListenFailure("127.0.0.1:80", &net.OpError{Op: "listen", Err: errors.New("other")}); err.Error() != `"127.0.0.1:80": other` {
		t.Error(err)
	}
}
