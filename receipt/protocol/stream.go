package protocol

// A Stream is a response that continues until its client disconnects, such as a stream of events.
type Stream struct {
	// Closing is closed when the Mux is closed. The stream then ends.
	Closing <-chan struct{}

	// Admitted reports whether the request would still be admitted, from the same client with
	// the same rights. Otherwise, the stream ends.
	Admitted func() bool

	// Take reserves n bytes of [Limits].Memory until they are sent. It returns nil if that memory
	// is not yet available.
	Take func(n int64) (give func())

	// Fault logs an error that ends the stream, if it is the server's fault.
	Fault func(e *Error)
}

// Stream releases the request slot, and takes a stream slot until end is called. The error is an
// *[Error], 503: all slots are taken, or the Mux is closed.
func (r *Request) Stream() (s Stream, end func(), err error) {
	x := r.exchange
	select {
	case <-x.mux.closing:
		return s, nil, Busy(1, "the server is shutting down")
	default:
	}

	give, err := x.take(x.mux.streams, "the maximum number of event streams is already open")
	if err != nil {
		return s, nil, err
	}
	x.place()
	x.place = func() {}
	return Stream{x.mux.closing, x.admitted, x.takePage, x.logMistake}, give, nil
}
