package match

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTree verifies that the tree and the list of words agree on whether a string is a word or the
// beginning of a word, for every string of a few letters.
func TestTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		wanted := map[string][]meaning{}
		var l lexicon
		for i := range 1 + random.IntN(40) {
			word := make([]byte, 1+random.IntN(6))
			for j := range word {
				word[j] = "abcdz"[random.IntN(5)]
			}
			m := meaning{i, random.IntN(3) - 1}
			l.add(string(word), m)
			wanted[string(word)] = append(wanted[string(word)], m)
		}
		begun := map[string]bool{"": true}
		for word := range wanted {
			for n := range word {
				begun[word[:n+1]] = true
			}
		}
		l.build()

		var look func(text string, state uint32)
		look = func(text string, state uint32) {
			if known := state != 0; known != begun[text] {
				t.Fatalf("%q begins a word: %v, expected %v", text, known, begun[text])
			}
			if state == 0 {
				return
			}
			if got := l.tree.ends(state); !slices.Equal(got, wanted[text]) {
				t.Fatalf("%q means %v, expected %v", text, got, wanted[text])
			}
			for _, c := range []byte("abcdez") {
				look(text+string(c), l.tree.step(state, l.class[c]))
			}
		}
		look("", l.tree.root())
	}
}
