package stream

// Indexed returns o with another limit than MaxIndexed.
func (o Options) Indexed(n int) Options {
	o.indexed = n
	return o
}
