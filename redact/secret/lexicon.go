package secret

import (
	"bytes"
	"slices"
)

// A lexicon finds words in a text, whatever the case of their letters.
//
// Where three bytes begin no word, which is nearly everywhere, one look at a
// small table of bits says so; elsewhere a tree of the words is followed.
type lexicon struct {
	words map[string][]meaning // until it is built

	class  [256]uint32 // of bytes that no word tells apart
	scaled [256]uint32 // class times width
	width  uint32      // classes
	begins []uint64    // for three classes, a bit: a word begins so
	next   []uint32    // for the row of a state and a class: the row of the next state; 0: none
	ends   [][]meaning // of the words that end in a state
}

// A meaning says what a word is to a detector: an anchor, or with -1 a keyword.
type meaning struct{ detector, anchor int }

// Two letters of more than one byte equal an ASCII letter in another case.
const (
	longS  = "\u017F" // s
	kelvin = "\u212A" // k
)

func (l *lexicon) add(word string, m meaning) {
	if l.words == nil {
		l.words = map[string][]meaning{}
	}
	l.words[word] = append(l.words[word], m)
}

// build makes the tables. Words are in lower case.
func (l *lexicon) build() {
	var used [256]bool
	sorted := make([]string, 0, len(l.words))
	for w := range l.words {
		sorted = append(sorted, w)
		for i := range len(w) {
			used[w[i]] = true
		}
	}
	slices.Sort(sorted)

	// The two letters beyond ASCII that fold to s and k, U+017F and U+212A, are in no word:
	// the bytes that they begin with have the last two classes.
	used[longS[0]], used[kelvin[0]] = false, false
	l.width = 1 // class 0 is in no word
	for c, ok := range used {
		if ok {
			l.class[c] = l.width
			l.width++
		}
	}

	// Both cases of a letter are one class.
	for c := 'A'; c <= 'Z'; c++ {
		l.class[c] = l.class[fold(c)]
	}
	l.class[longS[0]], l.class[kelvin[0]] = l.width, l.width+1
	l.width += 2

	for c, class := range l.class {
		l.scaled[c] = class * l.width
	}

	l.grow(sorted)

	// One bit for each three classes that a word can begin with, so that most places of a
	// text cost one look.
	l.begins = make([]uint64, l.width*l.width*l.width/64+1)
	for a := range l.width {
		if !l.possible(a) {
			continue
		}
		for b := range l.width {
			if !l.possible(a, b) {
				continue
			}
			for c := range l.width {
				if i := (a*l.width+b)*l.width + c; l.possible(a, b, c) {
					l.begins[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	l.words = nil
}

// possible reports whether a word may begin with some classes.
func (l *lexicon) possible(classes ...uint32) bool {
	row := uint32(0)
	for _, c := range classes {
		if c >= l.width-2 {
			return true
		}
		if row = l.next[row+c]; row == 0 {
			return false
		}
		if len(l.ends[row/l.width]) > 0 {
			return true
		}
	}
	return true
}

func (l *lexicon) grow(words []string) {
	// A state for each beginning of a word that is not one of the word before.
	states := 1
	before := ""
	for _, w := range words {
		states += len(w) - common(before, w)
		before = w
	}
	l.next = make([]uint32, 0, states*int(l.width))
	l.ends = make([][]meaning, 0, states)

	row := func() uint32 {
		at := len(l.next)
		l.next = l.next[:at+int(l.width)]
		l.ends = append(l.ends, nil)
		return uint32(at)
	}

	// Every word begins in row 0, so that an edge to row 0 is none.
	row()
	for _, w := range words {
		at := uint32(0)
		for i := range len(w) {
			edge := at + l.class[w[i]]
			if l.next[edge] == 0 {
				l.next[edge] = row()
			}
			at = l.next[edge]
		}
		l.ends[at/l.width] = l.words[w]
	}
}

// common returns how many bytes two words begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// first returns where, not before at, a word may begin, or the end of the text.
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

// has reports whether a text has a word in it, or one that goes on after its end.
func (l *lexicon) has(text []byte) bool {
	for begin := range text {
		at, ends := uint32(0), false
		for i := begin; i < len(text); i++ {
			if at = l.next[at+l.class[text[i]]]; at == 0 {
				break
			}
			if ends = len(l.ends[at/l.width]) > 0; ends {
				return true
			}
		}
		if at != 0 {
			return true
		}
	}
	return false
}

// follow sees the words that begin at a place.
func (l *lexicon) follow(w *work, s *Scanner, text []byte, begin int) *work {
	at := uint32(0)
	for i := begin; i < len(text); {
		class, n := l.class[text[i]], 1
		// U+017F and U+212A are longer than the s and the k for which they stand.
		if class >= l.width-2 {
			if bytes.HasPrefix(text[i:], []byte(longS)) {
				class, n = l.class['s'], len(longS)
			} else if bytes.HasPrefix(text[i:], []byte(kelvin)) {
				class, n = l.class['k'], len(kelvin)
			}
		}

		if at = l.next[at+class]; at == 0 {
			return w
		}
		i += n

		for _, m := range l.ends[at/l.width] {
			w = s.begin(w, text)
			w.see(m, begin, i)
		}
	}

	return w
}
