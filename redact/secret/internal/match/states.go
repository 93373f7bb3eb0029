package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A row is a state in an automaton.
type row uint16

const (
	unknown row = iota // not created yet
	dead               // no match is possible
	begun              // no match has begun, within a text
)

// maxRows is the maximum number of states that are kept.
const maxRows = 1024

// states contains the automaton states that scans have reached. Only one scan uses them at a time.
type states struct {
	*automaton
	next  []row // the row that follows a row and a class
	ends  []ending
	rows  map[string]row
	at    [][]uint32 // the instructions at which a row waits, in ascending order
	marks []uint32   // for each instruction, the turn in which it was last reached
	turn  uint32
	list  []uint32
	stack []uint32
}

// An ending specifies whether a match ends in a state.
type ending uint8

const (
	endsHere ending = 1 << iota
	endsText        // if the text ends here
)

func newStates(a *automaton) *states {
	a.once.Do(a.compile)
	s := &states{automaton: a, marks: make([]uint32, len(a.prog.Inst))}
	s.reset()
	return s
}

// reset discards all states except the fixed ones.
func (s *states) reset() {
	s.next, s.ends, s.at, s.rows = s.next[:0], s.ends[:0], s.at[:0], map[string]row{}
	s.push(nil) // unknown
	s.clear()
	s.enter() // dead
	s.clear()
	s.reach(s.prog.Start, 0)
	slices.Sort(s.list)

	// begun is not in rows. If a match has begun, a state with the same instructions is a new one.
	s.push(slices.Clone(s.list))
}

// initial returns the state before position at in a text.
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

// reach records the instructions that can be reached from an instruction without consuming a byte.
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
			// Only the ends of the text are known. Other assertions are assumed to hold.
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

// enter returns the row for the recorded instructions.
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

	// The list now contains the instructions that can be reached at the end of the text.
	if slices.ContainsFunc(s.list, func(pc uint32) bool { return s.prog.Inst[pc].Op == syntax.InstMatch }) {
		e |= endsText
	}
	s.at, s.ends = append(s.at, list), append(s.ends, e)
	s.next = append(s.next, make([]row, len(s.letters))...)
	return row(len(s.at) - 1)
}

// step creates the row that follows a row. It returns false if there were too many rows; all rows
// are then discarded.
func (s *states) step(r row, class uint8) (row, bool) {
	if len(s.at) >= maxRows {
		s.reset()
		return dead, false
	}

	// An instruction that consumed a letter's first byte also consumes the rest of the letter.
	c := s.letters[class]
	from := s.at[r]
	s.clear()
	for _, pc := range from {
		in := &s.prog.Inst[pc]
		if c == trail && s.marks[pc] != s.turn { // the remaining bytes of the letter that was consumed
			s.marks[pc] = s.turn
			s.list = append(s.list, pc)
		}
		if consumes(in) && takes(in, c) {
			s.reach(int(in.Out), 0)
		}
	}

	// In a loose automaton, a match may begin at any byte. If nothing remains of earlier matches,
	// the next row is begun.
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

// A stretch is an automaton's result for a text.
type stretch struct {
	found bool // there may be a match
	from  int  // its earliest beginning
	to    int  // its latest end; -1 if unknown
	read  int  // the end of the text that was read
}

// letterEnd returns the end of a letter of which at most one byte precedes the given position,
// because a match that contains the letter includes the rest of it.
func letterEnd(text []byte, at int) int {
	for at < len(text) && text[at] >= trail && text[at] < lead {
		at++
	}
	return at
}

// ahead reads the text after a position at which a pattern must begin or continue, up to a limit.
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

		// The limit has been reached: there may be a match, whose end is unknown.
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

// search reads the part of a text from at up to end: up to the first end of a possible match, and
// then until all matches that began before that end have ended. Matches that begin at last or later
// are not searched for.
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

		// Stop if the part ends, if no match is in progress and either a match was found or none
		// may begin here, or if a match was found too far back.
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

	// A match in progress may end as late as the part does.
	found.to, found.read = letterEnd(text[:end], at), at
	if r != begun {
		found.to, found.read = end, end
	}

	return found
}

// maxAhead is how far a search continues after the end of a match, in bytes.
const maxAhead = 512

// matches reports whether a text may contain a match, and whether this result is certain.
func (s *states) matches(text []byte) (may, sure bool) {
	r := s.initial(0)
	sure = s.sure
	for _, c := range text {
		if s.ends[r]&endsHere != 0 {
			return true, sure
		}
		if len(s.at[r]) == 0 {
			return false, true // a match had to begin at the start of the text
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
