package main

import (
	"bytes"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// mostMemory is the memory limit in bytes that README.md states.
const mostMemory = 512 << 20

// longest is the length of the longest text that fits into the body of a message request.
var longest = replay.MaxRequest - len(`{"message":{"parts":[{"text":"","type":"text","visibility":"public"}],"role":"user"}}`)

// TestFlood sends messages of all lengths, with and without an Idempotency-Key. Meanwhile, other
// clients request all messages without reading the responses, and the program is killed repeatedly.
// After each kill, the program must open its log, accept writes, return all acknowledged messages,
// and stay within its memory limit.
func TestFlood(t *testing.T) {
	kills, deaf, writers, pause := 2, 12, 2, 500*time.Millisecond
	if testsize.Full() {
		kills, deaf, writers, pause = 12, 120, 4, 2*time.Second
	}
	w := &world{t: t, dir: t.TempDir(), tasks: map[string]string{}}
	w.begin()
	workspace := w.ask("GET", "/v1/workspaces", "", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
	session := w.ask("POST", "/v1/sessions", "session", object{"workspace_id": workspace})["id"].(string)

	var clients sync.WaitGroup
	var sent flood
	for n := range writers {
		clients.Go(func() {
			for round := 0; !w.over.Load(); round++ {
				sent.message(w, session, fmt.Sprintf("%d-%d", n, round))
			}
		})
	}

	peak := 0
	for range kills {
		connections := w.listen(session, deaf)
		time.Sleep(pause + time.Duration(mathrand.Int64N(int64(pause))))
		peak = max(peak, w.memory())
		w.kill()
		w.begin()
		for _, c := range connections {
			c.Close()
		}
	}
	w.over.Store(true)
	clients.Wait()
	sent.check(w, session)
	peak = max(peak, w.memory())
	w.interrupt()
	if peak > mostMemory {
		t.Errorf("%d MiB of memory, expected at most %d", peak>>20, mostMemory>>20)
	}
	t.Logf("%d kills, %d messages of %d MiB, at most %d MiB of memory", kills, len(sent.lengths), sent.bytes>>20, peak>>20)
}

// A flood records the messages that were acknowledged.
type flood struct {
	mu      sync.Mutex
	lengths map[string]int // length of each text, indexed by message ID
	bytes   int
}

// message sends a message of random length. If the message has a key, it is sent twice.
func (f *flood) message(w *world, session, key string) {
	n := int(math.Exp(mathrand.Float64() * math.Log(float64(longest))))
	switch mathrand.IntN(8) {
	case 0:
		n = longest
	case 1:
		n = longest/2 + mathrand.IntN(longest/2)
	}
	times := 2
	if mathrand.IntN(3) == 0 {
		key, times = "", 1
	}

	id := ""
	for range times {
		answer := w.ask("POST", "/v1/sessions/"+session+"/messages", key, object{"message": message(strings.Repeat("x", n))})
		told, _ := answer["id"].(string)
		if id != "" && told != id {
			w.t.Errorf("one key is the message %s, and then %s", id, told)
		}
		if id = told; id == "" || textLength(answer) != n {
			w.t.Errorf("a text of %d bytes is answered %q with one of %d", n, id, textLength(answer))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lengths == nil {
		f.lengths = map[string]int{}
	}
	f.lengths[id], f.bytes = n, f.bytes+n
}

// textLength returns the length of a message's text.
func textLength(message object) int {
	parts, _ := message["parts"].([]any)
	if len(parts) != 1 {
		return -1
	}
	text, _ := parts[0].(map[string]any)["text"].(string)
	return len(text)
}

// check compares the acknowledged messages with the messages in the session. The session may also
// contain a message that has no key and was not acknowledged.
func (f *flood) check(w *world, session string) {
	there := map[string]int{}
	for _, m := range w.all("/v1/sessions/" + session + "/messages?limit=200") {
		there[m["id"].(string)] = textLength(m)
	}
	for id, n := range f.lengths {
		if found, ok := there[id]; !ok || found != n {
			w.t.Errorf("the message %s of %d bytes has %d", id, n, found)
		}
	}
}

// listen opens connections for clients that request many items but never read the responses.
func (w *world) listen(session string, deaf int) (list []net.Conn) {
	host := strings.TrimPrefix(w.url(), "http://")
	paths := []string{"/v1/sessions/" + session + "/messages?limit=200", "/v1/events?limit=200", "/v1/events/stream", "/v1/sessions/" + session + "/events/stream"}
	for n := range deaf {
		c, err := net.Dial("tcp", host)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s: %s\r\n\r\n", paths[n%len(paths)], host, w.key, protocol.VersionHeader, protocol.Version)
		list = append(list, c)
	}
	return list
}

// memory returns the program's peak memory use so far, in bytes.
func (w *world) memory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.process.cmd.Process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kibibytes := 0
	if _, err := fmt.Sscan(string(rest), &kibibytes); err != nil {
		w.t.Fatal(err)
	}
	return kibibytes << 10
}
