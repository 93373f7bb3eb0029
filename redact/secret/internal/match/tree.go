package match

// A tree contains words. Each word is stored as the sequence of the classes of its bytes.
//
// A state is an offset in the list of edges: its edge for class c is edges[state+c] if that edge
// belongs to the state. Most states have only one edge, and edges of other states are stored in the
// gaps. A table with one row per state and one column per class would occupy a few megabytes, and
// creating it would take longer than searching most strings.
type tree struct {
	edges []edge
	end   uint32 // a class without bytes, whose edge leads to the meanings of a complete word
	words [][]meaning
}

// An edge leads from one state to another state, or to an index in words. The zero edge belongs to
// no state.
type edge struct{ of, to uint32 }

// root returns the state before the first byte of a word.
func (t *tree) root() uint32 { return 1 }

// step returns the state after another byte, or 0 if no word continues with that byte.
func (t *tree) step(state, class uint32) uint32 {
	if e := t.edges[state+class]; e.of == state {
		return e.to
	}
	return 0
}

// ends returns the meanings of the word that ends in a state, if any.
func (t *tree) ends(state uint32) []meaning {
	if e := t.edges[state+t.end]; e.of == state {
		return t.words[e.to]
	}
	return nil
}

// newTree creates a tree that contains the words of the entries. If several entries have the same
// word, the order of their meanings is preserved. The last class is width - 1.
func newTree(entries []entry, class *[256]uint32, width uint32) tree {
	t := tree{end: width, words: make([][]meaning, 0, len(entries))}

	// The slice order contains the indexes of the entries. In this slice, words with the same
	// beginning are adjacent.
	order := make([]int32, len(entries))
	for i := range order {
		order[i] = int32(i)
	}

	// A branch is a state that has not been created yet: it represents all words with the same
	// beginning of a given length.
	type branch struct {
		from, to int // in order
		length   int
		incoming int // index of the edge that leads to the state, or -1
	}
	space, sorter := newSpace(width+1, 4*len(entries)), newSorter(width+1, len(entries))
	meanings := make([]meaning, 0, len(entries))
	for todo := []branch{{0, len(entries), 0, -1}}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		classes := sorter.sort(order[b.from:b.to], func(i int32) uint32 {
			if word := entries[i].word; b.length < len(word) {
				return class[word[b.length]]
			}
			return t.end
		})

		state := space.place(classes)
		if b.incoming >= 0 {
			space.edges[b.incoming].to = state
		}
		from := b.from
		for _, c := range classes {
			e, to := &space.edges[state+c], from+sorter.count(c)
			e.of = state
			if c == t.end { // words that end in this state
				e.to = uint32(len(t.words))
				first := len(meanings)
				for _, i := range order[from:to] {
					meanings = append(meanings, entries[i].meaning)
				}
				t.words = append(t.words, meanings[first:len(meanings):len(meanings)])
			} else {
				todo = append(todo, branch{from, to, b.length + 1, int(state + c)})
			}
			from = to
		}
	}
	t.edges = space.used()
	return t
}

// A sorter sorts by class. The classes are in the order of their first occurrence.
type sorter struct {
	counts  []int // of each class
	places  []int
	classes []uint32
	sorted  []int32
}

func newSorter(classes uint32, most int) *sorter {
	return &sorter{counts: make([]int, classes), places: make([]int, classes), sorted: make([]int32, most)}
}

// sort sorts a list by class, using a stable sort, and returns the classes. The classes and their
// counts are valid until the next call.
func (s *sorter) sort(list []int32, classOf func(int32) uint32) []uint32 {
	for _, c := range s.classes {
		s.counts[c] = 0
	}
	s.classes = s.classes[:0]
	if len(list) == 1 { // the most common case
		s.classes = append(s.classes, classOf(list[0]))
		s.counts[s.classes[0]] = 1
		return s.classes
	}
	for _, i := range list {
		c := classOf(i)
		if s.counts[c] == 0 {
			s.classes = append(s.classes, c)
		}
		s.counts[c]++
	}
	if len(s.classes) < 2 {
		return s.classes
	}

	place := 0
	for _, c := range s.classes {
		s.places[c] = place
		place += s.counts[c]
	}
	for _, i := range list {
		c := classOf(i)
		s.sorted[s.places[c]] = i
		s.places[c]++
	}
	copy(list, s.sorted)
	return s.classes
}

// count returns how many elements of the list that was last sorted are in the given class.
func (s *sorter) count(class uint32) int { return s.counts[class] }

// A space finds room for the edges of a state among the edges of other states.
type space struct {
	edges []edge
	taken []bool // whether a state with that offset exists
	span  uint32 // maximum number of edges of a state
	one   uint32 // where to start searching for room for a single edge
	more  uint32 // where the search for room for several edges starts; this is later than for a single edge, so that the search stays short
	last  uint32 // the greatest state
}

// newSpace returns a space with the given number of free positions.
func newSpace(span uint32, places int) *space {
	return &space{span: span, one: 1, more: 1, edges: make([]edge, places), taken: make([]bool, places)}
}

// place returns a state whose edges are all free, and reserves these edges.
func (s *space) place(classes []uint32) uint32 {
	least := &s.more
	if len(classes) == 1 {
		least = &s.one
	}
	state := *least
	for !s.free(state, classes) {
		state++
	}
	s.taken[state] = true
	*least, s.last = state+1, max(s.last, state)
	return state
}

// free reports whether a state, and all edges that it needs, are unused.
func (s *space) free(state uint32, classes []uint32) bool {
	if need := int(state + s.span); need > len(s.edges) {
		s.edges = append(s.edges, make([]edge, need)...)
		s.taken = append(s.taken, make([]bool, need)...)
	}
	if s.taken[state] {
		return false
	}
	for _, c := range classes {
		if s.edges[state+c].of != 0 {
			return false
		}
	}
	return true
}

// used returns all edges up to the edges of the last state.
func (s *space) used() []edge { return s.edges[:s.last+s.span] }
