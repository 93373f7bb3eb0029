package secret

import "github.com/receiptkit/receiptkit/redact/secret/internal/match"

// A Detector finds secrets of one kind in text.
type Detector struct {
	Name    string // consists of a-z, 0-9, _, and -
	Pattern string // a regular expression of package regexp
	Group   int    // the submatch that is the secret; 0 for the entire match; or FirstGroup

	// Keywords are in lowercase. A text that contains none of them is not searched. If Keywords is
	// empty, every text is searched.
	Keywords []string

	Entropy float64 // minimum Shannon entropy of the secret, in bits per byte; 0 accepts any entropy

	// Allow lists patterns of texts that are not secrets. They are compared with the secret and with
	// the entire match.
	Allow []string

	StopWords []string    // a secret contains none of these words, in uppercase or lowercase
	Allowed   []Allowance // further exceptions
}

// FirstGroup, as a [Detector]'s Group, means the first non-empty submatch, or the entire match if
// there is none.
const FirstGroup = match.FirstGroup

// An Allowance specifies which matches of a detector are not secrets. One criterion suffices; with
// All, one criterion of each specified kind is required.
type Allowance = match.Allowance

// Targets of an [Allowance]: the text with which its patterns are compared. The zero Target is the
// secret.
const (
	TargetMatch = match.TargetMatch // the entire match of the detector's pattern
	TargetLine  = match.TargetLine  // the lines that contain the match
	TargetWord  = match.TargetWord  // the match, with the rest of the word in which it begins
)

// A DetectorError describes an invalid detector in a list.
type DetectorError = match.Error

// A Scanner finds secrets in texts. It is immutable and safe for concurrent use.
type Scanner = match.Scanner

// A Span is a secret in a text: the bytes from Start up to, but not including, End, found by the
// detector with index Detector.
type Span = match.Span

// Compile checks detectors and prepares them for scanning. The error is a *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	list := make([]match.Detector, len(detectors))
	for i, d := range detectors {
		list[i] = match.Detector(d)
	}

	// A known detector is compiled only when a text first needs it.
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

// unbound removes the word boundary before a token.
func (d Detector) unbound() Detector {
	d.Pattern = d.Pattern[len(`\b`):]
	return d
}
