package protocol

import "time"

// Limits bound the resources that clients may use of a Mux. The zero value of a field means its
// default. Each client gets at most half of Requests, of Memory, and of the streams of events, and
// less if others hold some: as much as it leaves for one more client. A client is an API key or,
// without keys, an address.
type Limits struct {
	// Body is the largest body, in bytes, of a route without a Limit of its own. Default: 1 MiB.
	// Beyond it: 413. A route with BodyStream has no limit of length.
	Body int64

	// Memory is how many bytes of bodies, answers, and pages of streams are held at the same time.
	// Answers and pages count until clients have read them. Default: 128 MiB. If a body does not
	// fit, or an answer to GET that has not begun, the answer is 503; a stream waits.
	Memory int64

	// Arrive is how long a body may take to arrive. Default: 60 s. Beyond it: 504.
	Arrive time.Duration

	// Requests is how many requests are answered at the same time, except for open routes, free
	// routes, and streams. Default: 256. Further requests are answered with 503.
	Requests int

	// Idle is how long a read of a body or a write of an answer may make no progress. A client that
	// does not read its stream for that long is disconnected. Default: 30 s.
	Idle time.Duration
}

// mostStreams is how many streams are open at the same time. Further ones are answered with 503.
// Each holds one page of the log and a goroutine.
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
