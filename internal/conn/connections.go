package conn

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// socketBuffer is how many bytes the system may buffer for a connection in each direction. By
// default, the system buffers up to several MiB, which count as the server's.
const socketBuffer = 256 << 10

// firstRequest is the time that a new connection has to send a request before another connection may
// replace it. A server under attack may accept a thousand connections before it reads from one.
const firstRequest = 250 * time.Millisecond

// Limit limits how many connections a server has open at the same time.
func Limit(hs *http.Server, most int) {
	c := &connections{most: max(most, 1), all: map[net.Conn]*connection{}}
	hs.ConnContext = c.context
	hs.ConnState = c.change
}

// A rank is the order in which connections are closed.
type rank int

const (
	isNew rank = iota // no request yet
	isWaiting
	isActive
	isWaitingKeyed
	isActiveKeyed
	ranks
)

// A connection is an open connection of a client.
type connection struct {
	conn    net.Conn
	came    time.Time
	keyed   bool // it has presented an API key
	rank    rank
	element *list.Element // of its rank
}

// silent reports whether a new connection has had enough time for a request.
func (one *connection) silent() bool {
	return one != nil && time.Since(one.came) >= firstRequest
}

// connections are the open connections, by rank, the oldest of each first.
type connections struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]*connection
	ranks [ranks]list.List
}

type connectionKey struct{}

// context prepares an accepted connection.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(socketBuffer) // a system may refuse, and then chooses the size
		_ = tcp.SetWriteBuffer(socketBuffer)
	}

	// net/http calls this before it reports any state of the connection, and before it accepts
	// another one.
	c.hold()
	one := &connection{conn: conn, came: time.Now()}
	c.mu.Lock()
	c.all[conn] = one
	c.put(one, isNew)
	c.mu.Unlock()
	return context.WithValue(ctx, connectionKey{}, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.keyed = true; one.element != nil {
			c.put(one, isActiveKeyed)
		}
	})
}

// ShowedKey records that the client of a request's connection has presented a key.
func ShowedKey(ctx context.Context) {
	if remember, ok := ctx.Value(connectionKey{}).(func()); ok {
		remember()
	}
}

// change handles a new state of a connection.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	for _, one := range c.changed(conn, state) {
		_ = one.Close()
	}
}

// hold delays accepting further connections while all places are taken, and more than a quarter of
// them by connections that were just accepted. The next ones wait in the system.
func (c *connections) hold() {
	for left := c.early(); left > 0; left = c.early() {
		time.Sleep(min(left, 5*time.Millisecond)) // some may send a request before
	}
}

// early returns how long the server accepts no further connections, unless one sends a request or
// is closed.
func (c *connections) early() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.oldest(isNew)
	if first == nil || len(c.all) < c.most || c.ranks[isNew].Len() <= c.quarter() {
		return 0
	}
	return firstRequest - time.Since(first.came)
}

// changed returns the connections to close.
func (c *connections) changed(conn net.Conn, state http.ConnState) (close []net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[conn]
	switch {
	case one == nil: // already closed here
		return nil
	case state == http.StateActive && one.keyed:
		c.put(one, isActiveKeyed)
	case state == http.StateActive:
		c.put(one, isActive)
	case state == http.StateIdle && one.keyed:
		c.put(one, isWaitingKeyed)
	case state == http.StateIdle:
		c.put(one, isWaiting)
	case state == http.StateClosed || state == http.StateHijacked:
		c.remove(one)
	}

	// The quarter is checked first, because closing its connections also makes room for others.
	for one := c.beyondQuarter(); one != nil; one = c.beyondQuarter() {
		close = append(close, c.remove(one))
	}
	if state == http.StateNew && len(c.all) > c.most {
		close = append(close, c.remove(c.forAnother()))
	}
	return close
}

// beyondQuarter returns a waiting connection if more than a quarter wait, or nil. It ignores
// connections that were just accepted.
func (c *connections) beyondQuarter() *connection {
	waiting := c.ranks[isWaiting].Len()
	if one := c.oldest(isNew); c.ranks[isNew].Len()+waiting > c.quarter() && one.silent() {
		return one
	}
	if waiting > c.quarter() {
		return c.oldest(isWaiting)
	}
	return nil
}

// forAnother returns the connection that is closed for a new one. It is the new one itself if a
// request with a key is being answered on all others.
func (c *connections) forAnother() *connection {
	if one := c.oldest(isNew); one.silent() {
		return one
	}
	for r := isWaiting; r < isActiveKeyed; r++ {
		if one := c.oldest(r); one != nil {
			return one
		}
	}
	return c.ranks[isNew].Back().Value.(*connection)
}

// quarter returns how many connections may wait without having presented a key.
func (c *connections) quarter() int { return max(c.most/4, 1) }

// oldest returns the connection that has been in a rank for the longest time, or nil.
func (c *connections) oldest(r rank) *connection {
	if first := c.ranks[r].Front(); first != nil {
		return first.Value.(*connection)
	}
	return nil
}

// put makes a connection the youngest of a rank.
func (c *connections) put(one *connection, r rank) {
	if one.element != nil {
		c.ranks[one.rank].Remove(one.element)
	}
	one.rank, one.element = r, c.ranks[r].PushBack(one)
}

// remove removes a connection.
func (c *connections) remove(one *connection) net.Conn {
	c.ranks[one.rank].Remove(one.element)
	one.element = nil
	delete(c.all, one.conn)
	return one.conn
}
