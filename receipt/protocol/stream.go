package protocol

// A Stream is a response that continues until its client disconnects, such as a stream of events.
type Stream struct {
	// Closing is closed when the Mux is closed, and the stream must then end.
	Closing <-chan struct{}

	// Admitted reports whether the request would still be admitted, and whether its client and
	// permissions are unchanged. If not, the stream must end.
	Admitted func() bool

	// Take reserves n bytes of [Limits].Memory until the caller calls give. It returns nil if this
	// memory is not available yet.
	Take func(n int64) (give func())

	// Fault logs an error that ends the stream, if the server caused it.
	Fault func(e *Error)
}

// Stream releases the request slot, and holds a stream slot until end is called. If all slots are
// in use or the Mux is closed, the error is an *[Error] with status 503.
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
