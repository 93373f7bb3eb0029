package journal

// A Part is the place of a value of an event in the file. It allows the state to leave long
// values in the file.
type Part struct {
	at   int64
	size int
}

// Size returns the length of the value in bytes.
func (p Part) Size() int { return p.size }
