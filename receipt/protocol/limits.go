package protocol

import "time"

// Limits bounds the resources of a Mux that clients can use. If a field is zero, its default
// applies. Each client gets at most half of Requests, of Memory, and of the event streams. A client
// that already uses some of a resource gets more only if the amount that remains free is then at
// least as large as the amount that the client uses. A client is identified by its API key or,
// without keys, by its address.
type Limits struct {
	// Body is the maximum size of a body, in bytes, for routes that do not set their own Limit. The
	// default is 1 MiB. A longer body gets a 413 response. Routes with BodyStream have no size
	// limit.
	Body int64

	// Memory is the maximum number of bytes that bodies, responses, and stream pages may occupy at
	// the same time. Responses and pages are counted until the client has read them. The default is
	// 128 MiB. If there is no room for a body, or for a response to GET that has not begun, the
	// response is 503. A stream waits for room instead.
	Memory int64

	// Arrive is the maximum time in which a body must arrive. The default is 60 s. After that time,
	// the response is 504.
	Arrive time.Duration

	// Requests is the maximum number of concurrent requests, not counting open routes, free routes,
	// and streams. The default is 256. Further requests get a 503 response.
	Requests int

	// Idle is the maximum time without progress while a body is read or a response is written. A
	// client that does not read its stream for this long is disconnected. The default is 30 s.
	Idle time.Duration
}

// mostStreams is the maximum number of open streams. Further requests for streams get a 503
// response. Each stream uses a goroutine and the memory for one page of the log.
const mostStreams = 1024

// withDefaults returns the limits, with default values for unset fields.
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
