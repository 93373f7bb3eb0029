package story

import "github.com/receiptkit/receiptkit/canon"

// A log is a file that was read.
type log struct {
	name               string
	digest             canon.Digest
	bytes              int64
	lines              int
	unreadable         int  // lines that are no JSON object
	repaired, overlong int  // lines with half of a character; lines that are too long
	cut                bool // it ends in the middle of a line
}

// lacks reports whether a part of the log was not read.
func (l *log) lacks() bool { return l.unreadable > 0 || l.overlong > 0 || l.cut }

// Passed says what of the logs was passed over.
type Passed struct {
	Records                        map[string]int // of unknown types
	Unreadable, Repaired, Overlong int            // lines
	Timeless                       bool           // no line tells a time
	Cut                            []string       // logs that end in the middle of a line
	Agents                         []string       // that worked for this one, and of which no log was read
	Sessions                       []string       // that the logs tell of, in their order
}
