package match

import (
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// An automaton determines where a pattern may match, in a few nanoseconds per byte. It is
// conservative: it treats all non-ASCII letters as the same letter, and it assumes that every
// assertion in the pattern holds, except at the ends of a string. If the automaton finds no match,
// the pattern has no match. Otherwise, the regular expression is applied, which takes about fifty
// times as long.
type automaton struct {
	tree  *syntax.Regexp
	loose bool // a match may begin anywhere
	id    int  // index of the automaton in its scanner

	once    sync.Once
	prog    *syntax.Prog
	sure    bool       // whether, for ASCII text, the automaton gives the same result as the pattern
	class   [256]uint8 // the class of each byte; no instruction distinguishes the bytes in a class
	letters []byte     // one per class
}

// Two bytes stand in for all non-ASCII bytes: lead for the first byte of a letter, and trail for
// the bytes that follow it. In text that is not valid UTF-8, such a following byte may also be a
// separate letter.
const (
	lead  = 0xC0
	trail = 0x80
)

// compile prepares the automaton when it is first needed.
func (a *automaton) compile() {
	prog, err := syntax.Compile(a.tree.Simplify())
	if err != nil {
		panic(err) // cannot happen, because a pattern that was parsed can be compiled
	}

	a.prog = prog
	a.sure = !slices.ContainsFunc(prog.Inst, func(in syntax.Inst) bool {
		const ends = syntax.EmptyBeginText | syntax.EmptyEndText
		return in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^ends != 0
	})

	// If no instruction distinguishes between two bytes, they are in the same class. A row
	// therefore has one entry per class instead of 256 entries.
	var class [256]int
	classes, seen := 1, map[string]bool{}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		key := string(in.Rune) + string([]rune{rune(in.Op), rune(in.Arg)})
		if !consumes(in) || seen[key] {
			continue
		}

		seen[key] = true
		moved := map[int]int{} // the part of each class that the instruction accepts
		for c := range utf8.RuneSelf + 1 {
			if !takes(in, byte(c)) {
				continue
			}
			if _, ok := moved[class[c]]; !ok {
				moved[class[c]] = classes
				classes++
			}
			class[c] = moved[class[c]]
		}
	}

	// The classes are numbered without gaps, because step tries one byte for each class.
	dense := map[int]uint8{}
	for c := range utf8.RuneSelf {
		if _, ok := dense[class[c]]; !ok {
			dense[class[c]] = uint8(len(a.letters))
			a.letters = append(a.letters, byte(c))
		}
		a.class[c] = dense[class[c]]
	}

	// There are two classes for non-ASCII bytes: bytes that continue a letter and bytes that begin
	// a letter.
	a.letters = append(a.letters, trail, lead)
	for c := utf8.RuneSelf; c < 256; c++ {
		if a.class[c] = uint8(len(a.letters) - 1); c < lead {
			a.class[c]--
		}
	}
}

func consumes(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// takes reports whether an instruction accepts a byte.
func takes(in *syntax.Inst, c byte) bool {
	switch {
	case c < utf8.RuneSelf:
		return in.MatchRune(rune(c))
	case in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL:
		return true
	case len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0:
		for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
			if r >= utf8.RuneSelf {
				return true
			}
		}
	}
	return len(in.Rune) > 0 && in.Rune[len(in.Rune)-1] >= utf8.RuneSelf
}
