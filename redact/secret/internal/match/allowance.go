package match

import (
	"bytes"
	"fmt"
	"math"
)

// An Allowance specifies matches of a detector that are not secrets. A match needs to meet only one
// criterion or, if All is set, one criterion of each kind that is specified.
type Allowance struct {
	Patterns  []string
	Target    Target   // the text with which Patterns are compared
	StopWords []string // the secret must contain at least one of these words, ignoring case
	All       bool
}

// A Target is the text with which the patterns of an allowance are compared.
type Target int

const (
	TargetSecret Target = iota // the secret itself
	TargetMatch                // the entire match of the pattern of the detector
	TargetLine                 // the lines that contain the match, with at most 1,024 bytes on each side of the match

	// TargetWord is the match, extended to the rest of the word in which it begins, by at most 64
	// letters, digits, _, -, and periods.
	TargetWord
)

// maxLine and maxWord limit how much text around a match is compared. A receipt may be a single
// long line, which must not be searched again for every match.
const (
	maxLine = 1024
	maxWord = 64
)

type allowance struct {
	patterns  []*criterion
	target    Target
	either    bool // patterns are compared with the secret and with the entire match
	stopWords []string
	all       bool
}

func compileAllowance(a Allowance, shared criteria) (allowance, string) {
	c := allowance{target: a.Target, all: a.All}
	if a.Target < TargetSecret || a.Target > TargetWord {
		return c, "an allowance has an unknown target"
	}

	for _, p := range a.Patterns {
		if len(p) > maxPattern {
			return c, fmt.Sprintf("an allowance has a pattern of more than %d bytes", maxPattern)
		}
		compiled, err := shared.get(p)
		if err != nil {
			return c, "an allowance: " + explain(err)
		}
		c.patterns = append(c.patterns, compiled)
	}

	for _, w := range a.StopWords {
		if w == "" {
			return c, "a stop word is empty"
		}
		c.stopWords = append(c.stopWords, lower(w))
	}

	return c, ""
}

// meets reports whether a match meets the allowance.
func (a *allowance) meets(w *work, secret []byte, start, end int) bool {
	text := w.text
	target := secret
	switch a.target {
	case TargetMatch:
		target = text[start:end]
	case TargetLine:
		target = line(text, start, end)
	case TargetWord:
		from := start
		for from > max(0, start-maxWord) && isWord(text[from-1]) {
			from--
		}
		target = text[from:end]
	}

	byPattern, byWord := false, false
	for _, p := range a.patterns {
		byPattern = byPattern || p.met(w, target) || a.either && p.met(w, text[start:end])
	}

	for _, word := range a.stopWords {
		byWord = byWord || containsFold(secret, word)
	}

	// If All is set, a kind of criterion that is not specified is treated as met.
	if a.all {
		return (byPattern || len(a.patterns) == 0) && (byWord || len(a.stopWords) == 0)
	}
	return byPattern || byWord
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// line returns the lines that contain the given part of text, with at most maxLine bytes on each
// side.
func line(text []byte, start, end int) []byte {
	from, to := max(0, start-maxLine), min(len(text), end+maxLine)
	from += bytes.LastIndexByte(text[from:start], '\n') + 1
	if n := bytes.IndexByte(text[end:to], '\n'); n >= 0 {
		to = end + n
	}
	return text[from:to]
}

// entropy returns the Shannon entropy of text, in bits per byte.
func entropy(text []byte) float64 {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	return math.Log2(float64(len(text))) - sum/float64(len(text))
}
