package journal

// A Part is where a value of an event is in the file: what is folded from a journal need not hold
// long values in memory.
type Part struct {
	at   int64
	size int
}

// Size is how many bytes the value has.
func (p Part) Size() int { return p.size }
