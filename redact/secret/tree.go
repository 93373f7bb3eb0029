package secret

// A tree holds words by their classes of bytes.
//
// A state is where its edges lie: the edge for class c is edges[state+c], when it is of that
// state. Most states have one edge, and what lies between is of others. A row for every
// state, with a place for every class, would take a few megabytes, and longer to make than
// most texts take to be searched.
type tree struct {
	edges []edge
	end   uint32 // the class, of no byte, whose edge leads to what a word means
	words [][]meaning
}

// An edge leads from a state to another one, or to an index of words. The zero edge is of no
// state.
type edge struct{ of, to uint32 }

// root returns the state before the first byte.
func (t *tree) root() uint32 { return 1 }

// step returns the state after one more byte, or 0 when no word goes on so.
func (t *tree) step(state, class uint32) uint32 {
	if e := t.edges[state+class]; e.of == state {
		return e.to
	}
	return 0
}

// ends returns what the word that ends in a state means.
func (t *tree) ends(state uint32) []meaning {
	if e := t.edges[state+t.end]; e.of == state {
		return t.words[e.to]
	}
	return nil
}

// newTree makes the tree of sorted words. The last class is the one before width.
func newTree(sorted []entry, class *[256]uint32, width uint32) tree {
	t := tree{end: width, words: make([][]meaning, 0, len(sorted))}
	meanings := make([]meaning, len(sorted))
	for i, w := range sorted {
		meanings[i] = w.meaning
	}

	// A branch is a state to be: the words that begin alike, up to a length.
	type branch struct {
		words    []entry
		from     int // of the first word, in sorted
		length   int
		incoming int // the index of the edge to it, or -1
	}
	free := newSpace(width + 1)
	var classes []uint32
	for todo := []branch{{sorted, 0, 0, -1}}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		whole := 0 // words that end here come first
		for whole < len(b.words) && len(b.words[whole].word) == b.length {
			whole++
		}

		classes = classes[:0]
		if whole > 0 {
			classes = append(classes, t.end)
		}
		first := len(todo)
		for from := whole; from < len(b.words); {
			c, to := b.words[from].word[b.length], from+1
			for to < len(b.words) && b.words[to].word[b.length] == c {
				to++
			}
			classes = append(classes, class[c])
			todo = append(todo, branch{b.words[from:to], b.from + from, b.length + 1, 0})
			from = to
		}

		state := free.place(&t.edges, classes)
		for _, c := range classes {
			t.edges[state+c].of = state
		}
		if b.incoming >= 0 {
			t.edges[b.incoming].to = state
		}
		if whole > 0 {
			t.edges[state+t.end].to = uint32(len(t.words))
			t.words = append(t.words, meanings[b.from:b.from+whole:b.from+whole])
			classes = classes[1:]
		}
		for i, c := range classes {
			todo[first+i].incoming = int(state + c)
		}
	}
	return t
}

// A space finds places for the edges of states among those of others.
type space struct {
	span  uint32 // that a state can reach
	taken []bool // by a state, whose number it is
	one   uint32 // where to look for a state of one edge
	more  uint32 // and of several: further on, so that the search stays short
}

func newSpace(span uint32) *space { return &space{span: span, one: 1, more: 1} }

// place returns a state all of whose edges are free, and makes room for them.
func (s *space) place(edges *[]edge, classes []uint32) uint32 {
	least := &s.more
	if len(classes) == 1 {
		least = &s.one
	}
	for state := *least; ; state++ {
		if need := int(state + s.span); need > len(*edges) {
			*edges = append(*edges, make([]edge, need-len(*edges))...)
			s.taken = append(s.taken, make([]bool, need-len(s.taken))...)
		}
		if s.taken[state] {
			continue
		}
		free := true
		for _, c := range classes {
			free = free && (*edges)[state+c].of == 0
		}
		if free {
			s.taken[state] = true
			*least = state + 1
			return state
		}
	}
}
