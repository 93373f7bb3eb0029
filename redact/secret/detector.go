package secret

import (
	"fmt"
)

// A Detector finds secrets of one kind in text.
type Detector struct {
	Name      string      // of a-z, 0-9, _ and -
	Pattern   string      // as package regexp reads it
	Group     int         // the submatch that is the secret; 0: the whole match; or FirstGroup
	Keywords  []string    // lower case; a text without any of them is not searched. Empty: always searched
	Entropy   float64     // the secret has at least this Shannon entropy, in bits per byte; 0: any
	Allow     []string    // patterns; a secret that one of them matches, or whose whole match one does, is none
	StopWords []string    // a secret that contains one, in upper or lower case, is none
	Allowed   []Allowance // further secrets that are none
}

// FirstGroup as a [Detector]'s Group means the first submatch that is not empty,
// or the whole match when there is none.
const FirstGroup = -1

// A DetectorError says which detector of a list is of no use, and why.
type DetectorError struct {
	Index  int    // in the list given to Compile
	Name   string // as given
	Reason string
}

func (e *DetectorError) Error() string {
	return fmt.Sprintf("redact: detector %d (%q): %s", e.Index, e.Name, e.Reason)
}

// Limits of what Compile takes. gitleaks has 222 detectors, a keyword has seldom
// more than 30 letters.
const (
	MaxDetectors = 2_000
	MaxPattern   = 8 << 10 // bytes of a pattern
	maxKeyword   = 256
)

func (d Detector) allow(patterns ...string) Detector {
	d.Allow = append(d.Allow, patterns...)
	return d
}

// unbound lets a token begin where no word does.
func (d Detector) unbound() Detector {
	d.Pattern = d.Pattern[len(`\b`):]
	return d
}
