package match

import (
	"bytes"
	"strings"
)

// A lexicon finds words in a string, ignoring case.
//
// For most positions, a lookup in a small bit table shows that no word begins with the next three
// bytes. For the other positions, the lexicon follows a tree of the words.
type lexicon struct {
	words []entry // until build

	class  [256]uint32 // the class of each byte; no word distinguishes the bytes in a class
	scaled [256]uint32 // class times width
	width  uint32      // classes
	begins []uint64    // one bit for each sequence of three classes, set if a word can begin with it
	tree   tree
}

// An entry is a word, together with its meaning for one detector.
type entry struct {
	word string
	meaning
}

// A meaning identifies a word as an anchor of a detector or, with anchor -1, as one of its
// keywords.
type meaning struct{ detector, anchor int }

// These are the encodings of two non-ASCII letters that are case variants of ASCII letters.
const (
	longS  = "\u017F" // s
	kelvin = "\u212A" // k
)

func (l *lexicon) add(word string, m meaning) { l.words = append(l.words, entry{word, m}) }

// build creates the tables of the lexicon. The words must be in lowercase.
func (l *lexicon) build() {
	var used [256]bool
	for _, w := range l.words {
		for i := range len(w.word) {
			used[w.word[i]] = true
		}
	}

	// Words do not contain the letters U+017F and U+212A, whose lowercase forms are s and k. The
	// last two classes contain the first bytes of these letters.
	used[longS[0]], used[kelvin[0]] = false, false
	l.width = 1 // class 0 contains the bytes that occur in no word
	for c, ok := range used {
		if ok {
			l.class[c] = l.width
			l.width++
		}
	}

	// Both cases of a letter belong to the same class.
	for c := 'A'; c <= 'Z'; c++ {
		l.class[c] = l.class[fold(c)]
	}
	l.class[longS[0]], l.class[kelvin[0]] = l.width, l.width+1
	l.width += 2

	for c, class := range l.class {
		l.scaled[c] = class * l.width
	}

	l.tree = newTree(l.words, &l.class, l.width)

	// The table has one bit for each sequence of three classes, so most positions in a string
	// require only one lookup.
	l.begins = make([]uint64, l.width*l.width*l.width/64+1)
	l.mark(0, 2, l.tree.root())
	l.words = nil
}

// mark sets the bits of all sequences of three classes with which a word can begin. The argument
// chosen contains the classes chosen so far, and left is the number of classes that remain to be
// chosen after the next class. The argument at is the state after the chosen classes, or 0 if they
// already form a complete word.
func (l *lexicon) mark(chosen uint32, left int, at uint32) {
	for c := range l.width {
		next := uint32(0)
		if at != 0 && c < l.width-2 {
			if next = l.tree.step(at, c); next == 0 {
				continue
			}
			if len(l.tree.ends(next)) > 0 {
				next = 0
			}
		}

		if three := chosen*l.width + c; left > 0 {
			l.mark(three, left-1, next)
		} else {
			l.begins[three/64] |= 1 << (three % 64)
		}
	}
}

// first returns the first position, from at on, at which a word can begin, or the end of the text.
func (l *lexicon) first(text []byte, at int) int {
	class, scaled, begins := &l.class, &l.scaled, l.begins
	for at+2 < len(text) {
		three := scaled[text[at]]*l.width + scaled[text[at+1]] + class[text[at+2]]
		if begins[three/64]>>(three%64)&1 != 0 {
			return at
		}
		at++
	}
	return at
}

// has reports whether text contains a word or ends with the beginning of a word.
func (l *lexicon) has(text []byte) bool {
	for begin := range text {
		at := l.tree.root()
		for i := begin; i < len(text); i++ {
			if at = l.tree.step(at, l.class[text[i]]); at == 0 {
				break
			}
			if len(l.tree.ends(at)) > 0 {
				return true
			}
		}
		if at != 0 {
			return true
		}
	}
	return false
}

// follow finds the words that begin at a position, and passes them to w.
func (l *lexicon) follow(w *work, s *Scanner, text []byte, begin int) *work {
	at := l.tree.root()
	for i := begin; i < len(text); {
		class, n := l.class[text[i]], 1
		// U+017F and U+212A are longer than s and k, which they match.
		if class >= l.width-2 {
			if bytes.HasPrefix(text[i:], []byte(longS)) {
				class, n = l.class['s'], len(longS)
			} else if bytes.HasPrefix(text[i:], []byte(kelvin)) {
				class, n = l.class['k'], len(kelvin)
			}
		}

		if at = l.tree.step(at, class); at == 0 {
			return w
		}
		i += n

		for _, m := range l.tree.ends(at) {
			w = s.begin(w, text)
			w.see(m, begin, i)
		}
	}

	return w
}

// fold returns the lowercase ASCII letter that is a case variant of a rune, or the rune itself.
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

// lower returns text with all ASCII letters in lowercase, which is the form in which keywords and
// stop words are compared.
func lower(text string) string { return strings.Map(fold, text) }

// containsFold reports whether text contains a lowercase word, ignoring case.
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
