package conn

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// socketBuffer is how many bytes the system may buffer for a connection in each
// direction. Left to itself it takes up to several MiB, which count as the server's.
const socketBuffer = 256 << 10

// Limit bounds how many connections a server has open at the same time.
func Limit(hs *http.Server, most int) {
	c := &connections{most: max(most, 1), all: map[net.Conn]*connection{}}
	hs.ConnContext = c.context
	hs.ConnState = c.change
}

// A rank says whose connection is closed first.
type rank int

const (
	isNew rank = iota // nothing was asked yet
	isWaiting
	isActive
	isWaitingKeyed
	isActiveKeyed
	ranks
)

// A connection is one of a client.
type connection struct {
	conn    net.Conn
	keyed   bool // it has shown an API key
	rank    rank
	element *list.Element // of its rank
}

// connections are those that are open, by rank, the oldest of each first.
type connections struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]*connection
	ranks [ranks]list.List
}

type connectionKey struct{}

// context prepares a connection that was accepted.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(socketBuffer) // a system may refuse: then it decides itself
		_ = tcp.SetWriteBuffer(socketBuffer)
	}

	// net/http asks for the context before it tells of any state of the connection.
	one := &connection{conn: conn}
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

// ShowedKey remembers that the connection of a request belongs to whoever has a key.
func ShowedKey(ctx context.Context) {
	if remember, ok := ctx.Value(connectionKey{}).(func()); ok {
		remember()
	}
}

// change follows the state of a connection.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	for _, one := range c.changed(conn, state) {
		_ = one.Close()
	}
}

// changed returns the connections that are to be closed.
func (c *connections) changed(conn net.Conn, state http.ConnState) (close []net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[conn]
	switch {
	case one == nil: // closed here
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

	// The quarter first: what it closes counts for the whole as well.
	for c.ranks[isNew].Len()+c.ranks[isWaiting].Len() > max(c.most/4, 1) {
		close = append(close, c.evict())
	}
	for len(c.all) > c.most {
		close = append(close, c.evict())
	}

	return close
}

// evict takes out the connection that is to be closed first.
func (c *connections) evict() net.Conn {
	for r := range isActiveKeyed {
		if first := c.ranks[r].Front(); first != nil {
			one := first.Value.(*connection)
			c.remove(one)
			return one.conn
		}
	}

	one := c.ranks[isActiveKeyed].Back().Value.(*connection) // the newest of those that must not be closed
	c.remove(one)
	return one.conn
}

// put makes a connection the youngest of a rank.
func (c *connections) put(one *connection, r rank) {
	if one.element != nil {
		c.ranks[one.rank].Remove(one.element)
	}
	one.rank, one.element = r, c.ranks[r].PushBack(one)
}

func (c *connections) remove(one *connection) {
	c.ranks[one.rank].Remove(one.element)
	one.element = nil
	delete(c.all, one.conn)
}
