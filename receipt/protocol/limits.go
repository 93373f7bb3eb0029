package protocol

import "time"

// Limits bounds the resources of a Mux that clients may use. The zero value of a field means the
// default. Each client gets at most half of Requests, of Memory, and of the event streams. If other
// clients hold some of a resource, a client gets less, because it must leave as much as it gets for
// one more client. A client is an API key or, without keys, an address.
type Limits struct {
	// Body is the maximum size of a body, in bytes, for routes without their own Limit. Default: 1
	// MiB. Beyond it: 413. Routes with BodyStream have no size limit.
	Body int64

	// Memory is the maximum number of bytes of bodies, responses, and stream pages that are held at
	// the same time. Responses and pages count until clients have read them. Default: 128 MiB. If
	// there is no room for a body, or for a response to GET that has not begun, the response is
	// 503. A stream waits instead.
	Memory int64

	// Arrive is the maximum time for a body to arrive. Default: 60 s. Beyond it: 504.
	Arrive time.Duration

	// Requests is the maximum number of concurrent requests, except for open routes, free routes,
	// and streams. Default: 256. Further requests get the response 503.
	Requests int

	// Idle is the maximum time for which reading a body or writing a response may make no progress.
	// A client that does not read its stream for this time is disconnected. Default: 30 s.
	Idle time.Duration
}

// mostStreams is the maximum number of open streams. Further requests for streams get the response
// 503. Each stream holds one page of the log and a goroutine.
const mostStreams = 1024

// withDefaults returns the limits with defaults for unset fields.
func (l Limits) withDefaults() Limits {
	const mebi = 1 << 20
	l.Body = orElse(l.Body, mebi)
	l.Memory = orElse(l.Memory, 128*mebi)
	l.Arrive = orElse(l.Arrive, time.Minute)
	l.Requests = orElse(l.Requests, 256)
	l.Idle = orElse(l.Idle, 30*time.Second)
	return l
}

func orElse[T int | int64 | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}
