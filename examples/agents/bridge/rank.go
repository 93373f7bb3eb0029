package bridge

import (
	"path"
	"strings"
	"unicode"
)

// rank is what the runtime does without a host: a point for each word of the prompt that
// a skill's own words have, and two for each file that is worked on among its paths.
func rank(m Matching) (matches []Match) {
	asked := words(m.Prompt)
	for _, c := range m.Candidates {
		score := 0.0
		for word := range words(c.Name + " " + c.Description + " " + c.WhenToUse) {
			if asked[word] {
				score++
			}
		}
		for _, file := range m.WorkingFiles {
			if matchesAny(c.Paths, file) {
				score += 2
			}
		}
		if score > 0 {
			matches = append(matches, Match{c.Name, score, "words and paths"})
		}
	}
	byScore(matches)
	return matches
}

// words are those of a text, in lower case; short ones say too little.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) > 2 {
			all[word] = true
		}
	}
	return all
}

func matchesAny(patterns []string, file string) bool {
	for _, p := range patterns {
		if within(strings.Split(p, "/"), strings.Split(file, "/")) {
			return true
		}
	}
	return false
}

// within matches the parts of a path; ** is any number of them. Each ** gives up what the
// one before it took only once, so that no pattern takes more than patterns times parts.
func within(pattern, parts []string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(parts) {
		fits := false
		if p < len(pattern) && pattern[p] != "**" {
			fits, _ = path.Match(pattern[p], parts[n]) // a pattern that is none fits nothing
		}
		switch {
		case fits:
			p, n = p+1, n+1
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, n
			p++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}
