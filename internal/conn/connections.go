package conn

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// socketBuffer is the number of bytes that the system may buffer for a connection in each
// direction. By default, the system buffers up to several MiB, which count as memory of the server.
const socketBuffer = 256 << 10

// firstRequest is how long a new connection may take to send a request before another connection
// may replace it. Under attack, a server may accept a thousand connections before it reads from any
// of them.
const firstRequest = 250 * time.Millisecond

// Limit sets the maximum number of connections that a server has open at the same time.
func Limit(hs *http.Server, most int) {
	c := &connections{most: max(most, 1), all: map[net.Conn]*connection{}}
	hs.ConnContext = c.context
	hs.ConnState = c.change
}

// A rank is a class of connections. Connections of a lower rank are closed first.
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
	keyed   bool // the client has presented an API key
	rank    rank
	element *list.Element // position within the rank
}

// silent reports whether a new connection has had enough time to send a request.
func (one *connection) silent() bool {
	return one != nil && time.Since(one.came) >= firstRequest
}

// connections contains the open connections by rank, with the oldest connection of each rank first.
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
		_ = tcp.SetReadBuffer(socketBuffer) // the system may refuse, and then chooses the size
		_ = tcp.SetWriteBuffer(socketBuffer)
	}

	// net/http calls this function before it reports any state of the connection, and before it
	// accepts another connection.
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

// ShowedKey records that the client has presented a key on the connection of the request.
func ShowedKey(ctx context.Context) {
	if remember, ok := ctx.Value(connectionKey{}).(func()); ok {
		remember()
	}
}

// change updates the state of a connection, and closes connections that exceed a limit.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	for _, one := range c.changed(conn, state) {
		_ = one.Close()
	}
}

// hold delays accepting connections while the limit is reached and new connections make up more
// than a quarter of it. Meanwhile, further connections wait in the queue of the operating system.
func (c *connections) hold() {
	for left := c.early(); left > 0; left = c.early() {
		time.Sleep(min(left, 5*time.Millisecond)) // some may send a request earlier
	}
}

// early returns how long the server must wait before it accepts another connection, unless an open
// connection sends a request or is closed first.
func (c *connections) early() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.oldest(isNew)
	if first == nil || len(c.all) < c.most || c.ranks[isNew].Len() <= c.quarter() {
		return 0
	}
	return firstRequest - time.Since(first.came)
}

// changed records a new state of a connection, and returns the connections to close.
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

	// This limit is checked first, because closing waiting connections also makes room for others.
	for one := c.beyondQuarter(); one != nil; one = c.beyondQuarter() {
		close = append(close, c.remove(one))
	}
	if state == http.StateNew && len(c.all) > c.most {
		close = append(close, c.remove(c.forAnother()))
	}
	return close
}

// beyondQuarter returns a connection to close if more than a quarter of the limit is waiting
// without having presented a key, or nil otherwise. It never returns a connection that was just
// accepted.
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

// forAnother returns the connection to close when a new connection exceeds the limit. It returns
// the new connection itself if requests with a key are being answered on all others.
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

// quarter returns the number of connections that may wait without having presented a key.
func (c *connections) quarter() int { return max(c.most/4, 1) }

// oldest returns the connection that has had rank r for the longest time, or nil if no connection
// has it.
func (c *connections) oldest(r rank) *connection {
	if first := c.ranks[r].Front(); first != nil {
		return first.Value.(*connection)
	}
	return nil
}

// put moves a connection to the end of rank r.
func (c *connections) put(one *connection, r rank) {
	if one.element != nil {
		c.ranks[one.rank].Remove(one.element)
	}
	one.rank, one.element = r, c.ranks[r].PushBack(one)
}

// remove removes a connection from its rank and from the open connections.
func (c *connections) remove(one *connection) net.Conn {
	c.ranks[one.rank].Remove(one.element)
	one.element = nil
	delete(c.all, one.conn)
	return one.conn
}
