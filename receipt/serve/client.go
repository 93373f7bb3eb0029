package serve

import (
	"context"
	"net"
	"net/netip"

	"github.com/receiptkit/receiptkit/receipt/serve/internal/fair"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// client names who shares places and memory with others: an API key, or where none is
// needed an address. Of IPv6 it is the first half, since the second is a client's own.
func (c *call) client() string {
	if c.key != nil {
		return "key " + c.key.Name
	}
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		return "address " + c.r.RemoteAddr
	}

	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		if half, err := ip.WithZone("").Prefix(64); err == nil {
			host = half.String()
		}
	}
	return "address " + host
}

// place takes a place until the request has been answered.
func (c *call) place(s *fair.Shares, full string) error {
	if !s.Take(c.client(), 1) {
		return busy(full)
	}
	c.after = append(c.after, func() { s.Give(c.client(), 1) })
	return nil
}

// turn waits until a document may be judged: a small one for a processor, a large one
// for the memory that it takes, which few have at a time.
func (c *call) turn(ctx context.Context, data []byte, kind stream.Kind) (done func(), err error) {
	if weight := stream.Weight(data, kind); weight > 0 {
		return c.heavyTurn(ctx, weight)
	}
	return c.s.judging.Take(ctx, c.client(), 1)
}

// heavyTurn leaves half of the processors to documents that are not large.
func (c *call) heavyTurn(ctx context.Context, size int64) (done func(), err error) {
	const half = 2
	few := max(c.s.limits.Jobs/half, 1)
	return c.s.heavy.Take(ctx, c.client(), max(size, c.s.limits.Judging/int64(few)))
}
