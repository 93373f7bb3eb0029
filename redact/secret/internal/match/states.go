package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A row identifies a state of an automaton.
type row uint16

const (
	unknown row = iota // not created yet
	dead               // no match is possible anymore
	begun              // no match has begun, and the position is not at the start of the text
)

// maxRows is the maximum number of states that are kept.
const maxRows = 1024

// states contains the states of an automaton that scans have reached. It is used by only one scan
// at a time.
type states struct {
	*automaton
	next  []row // the next row, for each row and class
	ends  []ending
	rows  map[string]row
	at    [][]uint32 // for each row, the instructions that wait for a byte, in ascending order
	marks []uint32   // for each instruction, the turn in which it was last recorded
	turn  uint32
	list  []uint32
	stack []uint32
}

// An ending specifies whether a match can end in a state.
type ending uint8

const (
	endsHere ending = 1 << iota
	endsText        // only at the end of the text
)

func newStates(a *automaton) *states {
	a.once.Do(a.compile)
	s := &states{automaton: a, marks: make([]uint32, len(a.prog.Inst))}
	s.reset()
	return s
}

// reset discards all states except the predefined states.
func (s *states) reset() {
	s.next, s.ends, s.at, s.rows = s.next[:0], s.ends[:0], s.at[:0], map[string]row{}
	s.push(nil) // unknown
	s.clear()
	s.enter() // dead
	s.clear()
	s.reach(s.prog.Start, 0)
	slices.Sort(s.list)

	// The map rows does not contain the state begun. If a match has begun, the same instructions
	// represent a different state.
	s.push(slices.Clone(s.list))
}

// initial returns the state in which reading starts at a position in a string.
func (s *states) initial(at int) row {
	if at > 0 {
		return begun
	}
	s.clear()
	s.reach(s.prog.Start, syntax.EmptyBeginText)
	return s.enter()
}

func (s *states) clear() {
	s.turn++
	s.list = s.list[:0]
}

// reach records all instructions that can be reached from an instruction without reading a byte.
func (s *states) reach(pc int, holds syntax.EmptyOp) {
	s.stack = append(s.stack[:0], uint32(pc))
	for len(s.stack) > 0 {
		pc := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.marks[pc] == s.turn {
			continue
		}

		s.marks[pc] = s.turn
		switch in := &s.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.stack = append(s.stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			s.stack = append(s.stack, in.Out)
		case syntax.InstEmptyWidth:
			// Only assertions about the ends of the text can be evaluated. All other assertions are
			// assumed to hold.
			switch need := syntax.EmptyOp(in.Arg) &^ holds; {
			case need&syntax.EmptyBeginText != 0:
			case need&syntax.EmptyEndText != 0:
				s.list = append(s.list, pc)
			default:
				s.stack = append(s.stack, in.Out)
			}
		case syntax.InstFail:
		default:
			s.list = append(s.list, pc)
		}
	}
}

// enter returns the row for the instructions that have been recorded.
func (s *states) enter() row {
	slices.Sort(s.list)
	key := make([]byte, 0, 256)
	for _, pc := range s.list {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if r, ok := s.rows[string(key)]; ok {
		return r
	}
	r := s.push(slices.Clone(s.list))
	s.rows[string(key)] = r
	return r
}

func (s *states) push(list []uint32) row {
	var e ending
	s.clear()
	for _, pc := range list {
		switch in := &s.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			e |= endsHere | endsText
		case syntax.InstEmptyWidth:
			s.reach(int(in.Out), syntax.EmptyEndText)
		}
	}

	// The list now contains the instructions that can be reached if the text ends here.
	if slices.ContainsFunc(s.list, func(pc uint32) bool { return s.prog.Inst[pc].Op == syntax.InstMatch }) {
		e |= endsText
	}
	s.at, s.ends = append(s.at, list), append(s.ends, e)
	s.next = append(s.next, make([]row, len(s.letters))...)
	return row(len(s.at) - 1)
}

// step creates the row that results from reading a byte of a class in row r. It returns false if
// there were too many rows, in which case all rows have been discarded.
func (s *states) step(r row, class uint8) (row, bool) {
	if len(s.at) >= maxRows {
		s.reset()
		return dead, false
	}

	// An instruction that accepts the first byte of a letter also accepts the rest of that letter.
	c := s.letters[class]
	from := s.at[r]
	s.clear()
	for _, pc := range from {
		in := &s.prog.Inst[pc]
		if c == trail && s.marks[pc] != s.turn { // the remaining bytes of a letter whose first byte was accepted
			s.marks[pc] = s.turn
			s.list = append(s.list, pc)
		}
		if consumes(in) && takes(in, c) {
			s.reach(int(in.Out), 0)
		}
	}

	// In a loose automaton, a match can begin at every byte. If no match is in progress, the next
	// row is the state begun.
	to := row(begun)
	if !s.loose || len(s.list) > 0 {
		if s.loose {
			s.reach(s.prog.Start, 0)
		}
		to = s.enter()
	}
	s.next[int(r)*len(s.letters)+int(class)] = to
	return to, true
}

// A stretch is the result of reading a string with an automaton.
type stretch struct {
	found bool // there may be a match
	from  int  // its earliest beginning
	to    int  // the latest possible end of a match; -1 if unknown
	read  int  // the position up to which the text has been read
}

// letterEnd returns the end of the letter that contains the byte before position at. A match that
// contains part of a letter contains all of it.
func letterEnd(text []byte, at int) int {
	for at < len(text) && text[at] >= trail && text[at] < lead {
		at++
	}
	return at
}

// ahead reads text from the position at which a pattern must begin or continue, up to a limit.
func (s *states) ahead(text []byte, at, limit int) (found stretch) {
	r := s.initial(at)
	found.from = at
	for {
		if s.ends[r]&endsHere != 0 {
			found.found = true
		}
		if at == len(text) {
			found.found = found.found || s.ends[r]&endsText != 0
			break
		}
		if r == dead {
			break
		}

		// At the limit, a match is possible, but its end is not known.
		if at >= limit {
			found.found, found.to, found.read = true, -1, at
			return found
		}

		next := s.next[int(r)*len(s.letters)+int(s.class[text[at]])]
		if next == unknown {
			var ok bool
			if next, ok = s.step(r, s.class[text[at]]); !ok {
				return stretch{found: true, from: found.from, to: -1, read: at}
			}
		}
		r = next
		at++
	}

	found.to, found.read = letterEnd(text, at), at
	return found
}

// search reads text from at to end. It stops when it has found the first end of a possible match,
// and all matches that began before that end have ended. It does not search for matches that begin
// at position last or later.
func (s *states) search(text []byte, at, last, end int) (found stretch) {
	r := s.initial(at)
	found.from = at
	stop := end
	for ; ; at++ {
		if !found.found {
			if r == begun {
				found.from = at
			}
			if s.ends[r]&endsHere != 0 || at == end && s.ends[r]&endsText != 0 {
				found.found, stop = true, min(end, at+maxAhead)
			}
		}

		// Reading stops at the end, or if a match was found too far back. It also stops if no match
		// is in progress, and either a match was found or no further match may begin.
		if at == end || r == begun && (found.found || at >= last) || found.found && at == stop {
			break
		}
		next := s.next[int(r)*len(s.letters)+int(s.class[text[at]])]
		if next == unknown {
			var ok bool
			if next, ok = s.step(r, s.class[text[at]]); !ok {
				return stretch{found: true, from: found.from, to: end, read: end}
			}
		}
		r = next
	}

	// A match that is still in progress may end at the end of the part.
	found.to, found.read = letterEnd(text[:end], at), at
	if r != begun {
		found.to, found.read = end, end
	}

	return found
}

// maxAhead is the number of bytes for which a search continues after the end of a match.
const maxAhead = 512

// matches reports whether text may contain a match, and whether that result is certain.
func (s *states) matches(text []byte) (may, sure bool) {
	r := s.initial(0)
	sure = s.sure
	for _, c := range text {
		if s.ends[r]&endsHere != 0 {
			return true, sure
		}
		if len(s.at[r]) == 0 {
			return false, true // a match could have begun only at the start of the text
		}

		sure = sure && c < utf8.RuneSelf
		next := s.next[int(r)*len(s.letters)+int(s.class[c])]
		if next == unknown {
			var ok bool
			if next, ok = s.step(r, s.class[c]); !ok {
				return true, false
			}
		}
		r = next
	}
	return s.ends[r] != 0, sure
}
