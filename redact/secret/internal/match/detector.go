package match

import "fmt"

// A Detector has the same fields as a Detector in package secret.
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

// FirstGroup, as the Group of a [Detector], selects the first non-empty submatch, or the entire
// match if there is no such submatch.
const FirstGroup = -1

// An Error describes an invalid detector in a list of detectors.
type Error struct {
	Index  int    // index of the detector in the list
	Name   string // as given
	Reason string
}

// Error returns the index, the name, and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("redact: detector %d (%q): %s", e.Index, e.Name, e.Reason)
}

// Compile enforces these limits. For comparison, gitleaks has 222 detectors, and a keyword rarely
// has more than 30 characters.
const (
	maxDetectors = 2_000
	maxPattern   = 8 << 10 // maximum length of a pattern, in bytes
	maxKeyword   = 256
)

// A Knowledge value contains the words by which a scanner determines when it needs a detector. The
// detector is known to be valid.
type Knowledge struct {
	Anchors  []string
	Keywords []string // used if there are no anchors
}
