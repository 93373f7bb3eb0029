package conn_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
)

// most is the connection limit of the servers in these tests. A quarter of the limit is two
// connections.
const most = 8

// A limited server responds to /waits when the test signals it, and to all other requests
// immediately. A request with an Authorization header counts as one that presented a key.
type limited struct {
	t    *testing.T
	addr string
	end  func() // answers /waits
}

func start(t *testing.T) *limited {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	l := &limited{t: t, end: end}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			conn.ShowedKey(r.Context())
		}
		if r.URL.Path == "/waits" {
			_ = http.NewResponseController(w).Flush() // the client must receive the beginning of the response
			<-ctx.Done()
		}
	}))
	conn.Limit(s.Config, most)
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(end)
	l.addr = s.Listener.Addr().String()
	return l
}

// A client sends requests over a single connection.
type client struct {
	net.Conn
	t    *testing.T
	from *bufio.Reader
}

func (l *limited) dial() *client {
	l.t.Helper()
	c, err := net.Dial("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	return &client{c, l.t, bufio.NewReader(c)}
}

// dials returns n connections that have each received the beginning of a response.
func (l *limited) dials(n int, path, header string) (list []*client) {
	l.t.Helper()
	for range n {
		c := l.dial()
		if err := c.ask(path, header); err != nil {
			l.t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

const keyed = "Authorization: Bearer key\r\n"

// ask sends a request, and reads the response header and, if the response ends, its body.
func (c *client) ask(path, header string) error {
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n"+header+"\r\n"); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.from, nil)
	if err == nil && res.ContentLength >= 0 {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return err
}

// closed reports whether the server closes the connection within a minute.
func (c *client) closed() bool { return !c.asleep(time.Minute) }

// asleep reports whether no data arrives for the given time.
func (c *client) asleep(long time.Duration) bool {
	_ = c.SetDeadline(time.Now().Add(long))
	_, err := c.from.ReadByte()
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// TestNewIsHeard verifies that a client that sends a request soon after connecting receives a
// response, regardless of how many other clients connect without sending a request. The idle
// connections must be closed.
func TestNewIsHeard(t *testing.T) {
	for range 100 {
		l, began := start(t), time.Now()
		one := l.dial()
		var silent []*client
		for range 5 * most {
			silent = append(silent, l.dial())
		}
		if time.Since(began) > 100*time.Millisecond {
			continue // the machine is busy, so the request was sent too late
		}
		if err := one.ask("/", ""); err != nil {
			t.Errorf("not answered: %v", err)
		}
		for _, c := range silent[:len(silent)-most] {
			if !c.closed() {
				t.Fatal("a connection that asks nothing stays open")
			}
		}
		return
	}
	t.Skip("the machine is too busy")
}

// TestWaitingMakeRoom verifies that waiting connections without a key do not prevent other clients
// from connecting.
func TestWaitingMakeRoom(t *testing.T) {
	for _, n := range []int{1, 2, 3, most, 3 * most} {
		l := start(t)
		waiting := l.dials(n, "/", "")
		for range 3 {
			if err := l.dial().ask("/", keyed); err != nil {
				t.Errorf("with %d waiting connections: %v", n, err)
			}
		}
		closed := make(chan bool, n)
		for _, c := range waiting { // the order in which the responses ended is unknown
			go func() { closed <- c.closed() }()
		}
		for range n - 2 {
			if !<-closed {
				t.Errorf("more than two of %d stay open", n)
			}
		}
	}
}

// TestActiveMakeRoom verifies that active connections without a key do not prevent other clients
// from connecting, and that only the oldest of these connections is closed to make room.
func TestActiveMakeRoom(t *testing.T) {
	l := start(t)
	active := l.dials(most, "/waits", "")
	if err := l.dial().ask("/", keyed); err != nil {
		t.Errorf("a new one: %v", err)
	}
	if !active[0].closed() {
		t.Error("the oldest stays open")
	}
	if !active[1].asleep(50 * time.Millisecond) {
		t.Error("the next was closed as well")
	}
}

// TestSilentAreClosed verifies that connections without a request are closed after some time, but
// that a quarter of the limit stays open.
func TestSilentAreClosed(t *testing.T) {
	l := start(t)
	var silent []*client
	for range 5 {
		silent = append(silent, l.dial())
	}
	if !silent[0].asleep(300 * time.Millisecond) {
		t.Fatal("closed before another one came")
	}
	if err := l.dial().ask("/", keyed); err != nil {
		t.Error(err)
	}
	for _, c := range silent[:4] {
		if !c.closed() {
			t.Error("more than a quarter stay open")
		}
	}
	if !silent[4].asleep(time.Millisecond) { // the quarter consists of this connection and the new one
		t.Error("one of the quarter was closed")
	}
}

// TestKeyedStay verifies that a connection with a key is never closed during a response, and that
// an idle connection with a key is closed only if there is no other candidate.
func TestKeyedStay(t *testing.T) {
	l := start(t)
	active := l.dials(most-2, "/waits", keyed)
	waiting := append(l.dials(1, "/", keyed), l.dials(1, "/", "")...)
	for i := 1; i >= 0; i-- {
		active = append(active, l.dials(1, "/waits", keyed)...)
		if !waiting[i].closed() {
			t.Errorf("%d, which waits, stays open", i)
		}
	}
	if more := l.dial(); !more.closed() {
		t.Error("one more than there may be")
	}

	l.end()
	for _, c := range active {
		// The connection must deliver the rest of its response and another response.
		if _, err := io.CopyN(io.Discard, c.from, int64(len("0\r\n\r\n"))); err != nil {
			t.Fatalf("a request with a key was broken off: %v", err)
		}
		if err := c.ask("/", keyed); err != nil {
			t.Errorf("after its answer: %v", err)
		}
	}
}
