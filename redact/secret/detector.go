package secret

import "github.com/receiptkit/receiptkit/redact/secret/internal/match"

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
const FirstGroup = match.FirstGroup

// An Allowance says which finds of a detector are not secrets: one criterion that
// is met suffices, or with All every kind of criterion that is given.
type Allowance = match.Allowance

// What the patterns of an [Allowance] are compared with; its zero Target is the secret.
const (
	TargetMatch = match.TargetMatch // all that the detector's pattern matched
	TargetLine  = match.TargetLine  // the lines that the match lies in
	TargetWord  = match.TargetWord  // the match, and the rest of the word that it begins in
)

// A DetectorError says which detector of a list is of no use, and why.
type DetectorError = match.Error

// A Scanner finds secrets in texts. It does not change and is safe for concurrent use.
type Scanner = match.Scanner

// A Span is a secret in a text: the bytes from Start to before End, found by the
// detector with that index.
type Span = match.Span

// Compile checks detectors and prepares them for scanning. An error is a
// *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	list := make([]match.Detector, len(detectors))
	for i, d := range detectors {
		list[i] = match.Detector(d)
	}

	// A detector that is known needs no compiling before a text needs it.
	known, digests := knowledgeOf(), digester{}
	return match.Compile(list, func(i int) (match.Knowledge, bool) {
		by, ok := known[digests.of(&detectors[i])]
		return by, ok
	})
}

func (d Detector) allow(patterns ...string) Detector {
	d.Allow = append(d.Allow, patterns...)
	return d
}

// unbound lets a token begin where no word does.
func (d Detector) unbound() Detector {
	d.Pattern = d.Pattern[len(`\b`):]
	return d
}
