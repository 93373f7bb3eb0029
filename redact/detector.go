package redact

import "fmt"

// A Detector finds secrets of one kind in text.
type Detector struct {
	Name      string      // of a-z, 0-9, _ and -
	Pattern   string      // as package regexp reads it
	Group     int         // the submatch that is the secret; 0: the whole match
	Keywords  []string    // lower case; a text without any of them is not searched. Empty: always searched
	Entropy   float64     // the secret has at least this Shannon entropy, in bits per byte; 0: any
	Allow     []string    // patterns; a secret that one of them matches is none
	StopWords []string    // a secret that contains one, in upper or lower case, is none
	Allowed   []Allowance // further secrets that are none
}

// An Allowance says which finds of a detector are no secrets. One criterion that
// is met suffices, or with All every criterion that is given.
type Allowance struct {
	Patterns  []string
	Target    Target // what Patterns are compared with
	StopWords []string
	All       bool
}

// A Target is a part of the text around a secret.
type Target int

const (
	TargetSecret Target = iota // the secret itself
	TargetMatch                // all that the detector's pattern matched
	TargetLine                 // the lines that the match lies in
)

// A Span is a secret in a text: the bytes from Start to before End, found by the
// detector with that index.
type Span struct {
	Start, End int
	Detector   int
}

// A DetectorError says which detector of a list is of no use, and why.
type DetectorError struct {
	Index  int    // in the list given to Compile
	Name   string // as given
	Reason string
}

func (e *DetectorError) Error() string {
	return fmt.Sprintf("detector %d (%q): %s", e.Index, e.Name, e.Reason)
}
