package match

import "fmt"

// A Detector is what package secret calls so, field for field.
type Detector struct {
	Name      string
	Pattern   string
	Group     int
	Keywords  []string
	Entropy   float64
	Allow     []string
	StopWords []string
	Allowed   []Allowance
}

// FirstGroup as a [Detector]'s Group means the first submatch that is not empty,
// or the whole match when there is none.
const FirstGroup = -1

// An Error says which detector of a list is of no use, and why.
type Error struct {
	Index  int    // in the list given to Compile
	Name   string // as given
	Reason string
}

// Error gives the index, the name, and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("redact: detector %d (%q): %s", e.Index, e.Name, e.Reason)
}

// Limits of what Compile takes. gitleaks has 222 detectors, a keyword has seldom
// more than 30 letters.
const (
	maxDetectors = 2_000
	maxPattern   = 8 << 10 // bytes of a pattern
	maxKeyword   = 256
)

// A Knowledge is what a valid detector is found by.
type Knowledge struct {
	Anchors  []string
	Keywords []string // when it has no anchors
}
