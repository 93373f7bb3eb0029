package match

import "fmt"

// A Detector has the fields of a Detector of package secret.
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

// FirstGroup, as a [Detector]'s Group, means the first non-empty submatch, or the entire match if
// there is none.
const FirstGroup = -1

// An Error describes an invalid detector in a list.
type Error struct {
	Index  int    // index in the list passed to Compile
	Name   string // as given
	Reason string
}

// Error returns the index, the name, and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("redact: detector %d (%q): %s", e.Index, e.Name, e.Reason)
}

// Limits that Compile enforces. gitleaks has 222 detectors, and a keyword rarely has more than 30
// letters.
const (
	maxDetectors = 2_000
	maxPattern   = 8 << 10 // bytes of a pattern
	maxKeyword   = 256
)

// A Knowledge contains the words by which a valid detector is found.
type Knowledge struct {
	Anchors  []string
	Keywords []string // used if there are no anchors
}
