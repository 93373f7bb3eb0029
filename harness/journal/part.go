package journal

// A Part is the position of an event's value in the file. It allows the state to leave long values
// in the file.
type Part struct {
	at   int64
	size int
}

// Size returns the length of the value in bytes.
func (p Part) Size() int { return p.size }
