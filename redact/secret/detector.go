package secret

import "github.com/receiptkit/receiptkit/redact/secret/internal/match"

// A Detector finds one kind of secret in text.
type Detector struct {
	Name    string // consists of a-z, 0-9, _, and -
	Pattern string // a regular expression in the syntax of package regexp
	Group   int    // the submatch that is the secret; 0 for the entire match; or FirstGroup

	// Keywords are words in lowercase. The detector does not search a string that contains none of
	// these words. If Keywords is empty, the detector searches every string.
	Keywords []string

	Entropy float64 // minimum Shannon entropy of a secret, in bits per byte; 0 accepts any entropy

	// Allow lists patterns for text that is not a secret. Each pattern is compared with both the
	// secret and the entire match.
	Allow []string

	StopWords []string    // text that contains one of these words, ignoring case, is not a secret
	Allowed   []Allowance // further exceptions
}

// FirstGroup, as the Group of a [Detector], selects the first non-empty submatch, or the entire
// match if there is no such submatch.
const FirstGroup = match.FirstGroup

// An Allowance specifies matches of a detector that are not secrets. A match needs to meet only one
// criterion or, if All is set, one criterion of each kind that is specified.
type Allowance = match.Allowance

// These are the targets of an [Allowance], that is, the text with which its patterns are compared.
// The zero Target is the secret.
const (
	TargetMatch = match.TargetMatch // the entire match of the pattern of the detector
	TargetLine  = match.TargetLine  // the lines that contain the match
	TargetWord  = match.TargetWord  // the match, extended to the rest of the word in which it begins
)

// A DetectorError describes an invalid detector in a list of detectors.
type DetectorError = match.Error

// A Scanner finds secrets in text. A Scanner is immutable and safe for concurrent use.
type Scanner = match.Scanner

// A Span is the location of a secret in a string: the bytes from Start up to, but not including,
// End. Detector is the index of the detector that found the secret.
type Span = match.Span

// Compile checks the detectors and prepares them for scanning. The error is a *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	list := make([]match.Detector, len(detectors))
	for i, d := range detectors {
		list[i] = match.Detector(d)
	}

	// A known detector is compiled only when it is first needed.
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

// unbound removes the word boundary at the beginning of a token's pattern.
func (d Detector) unbound() Detector {
	d.Pattern = d.Pattern[len(`\b`):]
	return d
}
