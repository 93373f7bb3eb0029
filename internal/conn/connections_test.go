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

// most is the connection limit of the servers in these tests; a quarter of it is two.
const most = 8

// A limited server answers /waits when the test signals it, and all other requests immediately. A
// request with an Authorization header has presented a key.
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
			_ = http.NewResponseController(w).Flush() // so that the client sees the beginning of the answer
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

// A client is a client with one connection.
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

// dials returns n connections, each of which has received the beginning of a response.
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

// ask sends a request, and reads the head of the answer and, if the answer ends, its body.
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

// asleep reports whether no data arrives for some time.
func (c *client) asleep(long time.Duration) bool {
	_ = c.SetDeadline(time.Now().Add(long))
	_, err := c.from.ReadByte()
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// TestNewIsHeard verifies that a client that sends a request soon after connecting is answered,
// regardless of how many others connect without a request, and that those connections are closed.
func TestNewIsHeard(t *testing.T) {
	for range 100 {
		l, began := start(t), time.Now()
		one := l.dial()
		var silent []*client
		for range 5 * most {
			silent = append(silent, l.dial())
		}
		if time.Since(began) > 100*time.Millisecond {
			continue // the machine is busy, so the request was late
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

// TestWaitingMakeRoom verifies that waiting connections without a key do not keep others out.
func TestWaitingMakeRoom(t *testing.T) {
	for _, n := range []int{1, 2, 3, most, 3 * most} {
		l := start(t)
		waiting := l.dials(n, "/", "")
		for range 3 {
			if err := l.dial().ask("/", keyed); err != nil {
				t.Errorf("beside %d that wait: %v", n, err)
			}
		}
		closed := make(chan bool, n)
		for _, c := range waiting { // it is unknown whose response ended first
			go func() { closed <- c.closed() }()
		}
		for range n - 2 {
			if !<-closed {
				t.Errorf("more than two of %d stay open", n)
			}
		}
	}
}

// TestActiveMakeRoom verifies that connections without a key that are being answered do not keep
// others out, and that only the oldest of them is closed to make room.
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

// TestSilentAreClosed verifies that connections without a request are closed after enough time,
// except for a quarter of the limit.
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
	if !silent[4].asleep(time.Millisecond) { // the other connection in the quarter is the new one
		t.Error("one of the quarter was closed")
	}
}

// TestKeyedStay verifies that a connection with a key is never closed while it is being answered,
// and is closed while it waits only if there is no other candidate.
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
		// The rest of its response, and the next response.
		if _, err := io.CopyN(io.Discard, c.from, int64(len("0\r\n\r\n"))); err != nil {
			t.Fatalf("a request with a key was broken off: %v", err)
		}
		if err := c.ask("/", keyed); err != nil {
			t.Errorf("after its answer: %v", err)
		}
	}
}
