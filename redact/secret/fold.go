package secret

import "strings"

// fold returns the ASCII letter in lower case that a rune equals, or the rune.
func fold(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\u017F': // long s
		return 's'
	case r == '\u212A': // Kelvin sign
		return 'k'
	}
	return r
}

// lower returns a text with its ASCII letters in lower case: what keywords and
// stop words are compared in.
func lower(text string) string { return strings.Map(fold, text) }

// containsFold reports whether a text contains a word of lower case.
func containsFold(text []byte, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		j := 0
		for j < len(word) && fold(rune(text[i+j])) == rune(word[j]) {
			j++
		}
		if j == len(word) {
			return true
		}
	}
	return false
}
