package protocol

import "time"

// Limits bound what clients may use of a Mux. The zero value of a field means its default.
type Limits struct {
	// Body is the largest body, in bytes. Default: 1 MiB. Beyond it: 413. A route with
	// BodyStream has no limit of length.
	Body int64

	// Bodies is how many bytes of bodies are held at the same time. Default: 64 MiB. A body
	// that does not fit is answered 503.
	Bodies int64

	// Memory, if positive, is how many bytes of bodies and answers together are held at the
	// same time, instead of Bodies and Answers.
	Memory int64

	// Arrive is how long a body may take to arrive. Default: 60 s. Beyond it: 504.
	Arrive time.Duration

	// Requests is how many requests are answered at the same time, but for those of open
	// and free routes, and streams. Default: 256. The next one is answered 503. Of these, of Bodies,
	// Answers and Streams, each client gets half at the most, and less when others have some: as
	// much as it would leave to one more. A client is an API key, or where there are none an
	// address.
	Requests int

	// Answers is how many bytes of answers, and of pages of streams, are held until clients
	// have read them. Default: 64 MiB. An answer to GET that does not fit is refused with 503
	// before it begins, a page of a list or a range gets shorter, and a stream waits.
	Answers int64

	// Streams is how many streams of events are open at the same time. Default: 1024. The
	// next one is answered 503. Each holds one page of the log, and a goroutine.
	Streams int

	// Idle is how long a read of a body or a write of an answer may make no progress: a
	// client that does not read a stream loses it then. Default: 30 s.
	Idle time.Duration

	// Beat is how often a stream that has nothing to tell says so, by a comment, so that
	// neither side takes the other for gone. Default: 15 s.
	Beat time.Duration
}

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	const mebi = 1 << 20
	l.Body = orElse(l.Body, mebi)
	l.Bodies = orElse(l.Bodies, 64*mebi)
	l.Arrive = orElse(l.Arrive, time.Minute)
	l.Answers = orElse(l.Answers, 64*mebi)
	if l.Memory > 0 {
		l.Bodies, l.Answers = l.Memory, l.Memory
	}
	l.Requests = orElse(l.Requests, 256)
	l.Streams = orElse(l.Streams, 1024)
	l.Idle = orElse(l.Idle, 30*time.Second)
	l.Beat = orElse(l.Beat, 15*time.Second)
	return l
}

func orElse[T int | int64 | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}
