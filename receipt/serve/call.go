package serve

import (
	"context"
	"fmt"
	"net/http"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A call is one request and its response.
type call struct {
	s *Server
	r *protocol.Request

	// w is the response, which a Mux may remember for a request with an Idempotency-Key. Data that
	// is written to w is not reduced to the parts that the client may see, because receipts are
	// served byte for byte.
	w http.ResponseWriter
}

// id returns the ID in the path of the request.
func (c *call) id() string { return c.r.PathValue("id") }

// json responds with a short JSON value, on one line.
func (c *call) json(status int, v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return protocol.Internal(err, "the answer could not be written")
	}
	return c.send(status, mediaJSON, append(text, '\n'))
}

// smallAnswer is the maximum length, in bytes, of a response whose memory is not charged. The
// memory of such responses is limited by the number of requests.
const smallAnswer = 64 << 10

// write responds with the given text. If the text is long, its memory is charged until the client
// has read it.
func (c *call) write(status int, media string, text []byte) error {
	if len(text) > smallAnswer && c.r.Method == http.MethodGet {
		if err := c.r.Hold(int64(len(text))); err != nil {
			return err
		}
	}
	return c.send(status, media, text)
}

// send sends a response that is short or is the same for all clients.
func (c *call) send(status int, media string, text []byte) error {
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", fmt.Sprint(len(text)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // a client that does not read the response is treated as disconnected
	return nil
}

// share identifies the client for limits that clients share.
func (c *call) share() string { return c.r.Client.Share(c.r.Request) }

// turn waits until a document may be verified. If the document is small, turn waits for a free
// processor. Otherwise, it waits until there is enough memory. Only a few large documents can use
// this memory at the same time.
func (c *call) turn(ctx context.Context, data []byte, kind stream.Kind) (done func(), err error) {
	if weight := stream.Weight(data, kind); weight > 0 {
		return c.heavyTurn(ctx, weight)
	}
	return c.s.judging.take(ctx, c.share(), 1)
}

// heavyTurn leaves half of the processors to smaller documents.
func (c *call) heavyTurn(ctx context.Context, size int64) (done func(), err error) {
	const half = 2
	few := max(c.s.limits.Jobs/half, 1)
	return c.s.heavy.take(ctx, c.share(), max(size, c.s.limits.Judging/int64(few)))
}
