package stream

// What tests from outside see.
const (
	MaxGap      = maxGap
	MaxWrapping = maxWrapping

	LargeDocument = largeDocument
)

// ErrOnce is errOnce.
var ErrOnce = errOnce

// Indexed returns o with another limit than maxIndexed.
func (o Options) Indexed(n int) Options {
	o.indexed = n
	return o
}

// Rostered returns o with another limit than maxRoster.
func (o Options) Rostered(n int) Options {
	o.rostered = n
	return o
}

type (
	// Asked is asked.
	Asked = asked
	// AskedQuorum is askedQuorum.
	AskedQuorum = askedQuorum
)

// Asked returns what the summary was asked.
func (s *Summary) Asked() *Asked { return s.asked }
