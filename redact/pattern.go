package redact

import "slices"

// A pattern is a JSON Pointer with wildcards.
type pattern struct {
	text   string
	tokens []string
}

const (
	anyToken  = "*"
	anyTokens = "**"
)

// wild reports whether the pattern may name several values, or none.
func (p pattern) wild() bool {
	return slices.ContainsFunc(p.tokens, func(t string) bool { return t == anyToken || t == anyTokens })
}

// patterns are those of a policy.
type patterns []pattern

// A state says that the tokens before at of a pattern lead to a value.
type state struct{ pattern, at int }

// start returns the states of the whole document. Only concrete patterns could
// name it, and those are refused.
func (list patterns) start() []state {
	var s []state
	for i := range list {
		s = list.enter(s, state{i, 0})
	}
	return s
}

// enter adds a state, and the one after a ** that stands for no token.
func (list patterns) enter(states []state, s state) []state {
	tokens := list[s.pattern].tokens
	for {
		if !slices.Contains(states, s) {
			states = append(states, s)
		}
		if s.at+1 >= len(tokens) || tokens[s.at] != anyTokens {
			return states
		}
		s.at++
	}
}

// step returns the states of the child that token names, and whether a pattern
// names it.
func (list patterns) step(states []state, token string) (next []state, named bool) {
	if len(states) > 0 {
		next = make([]state, 0, len(states)+2)
	}

	for _, s := range states {
		tokens := list[s.pattern].tokens
		if s.at == len(tokens) {
			continue
		}
		// The last token names the child. After ** a pattern also stays where it is.
		switch t := tokens[s.at]; {
		case t == anyTokens:
			named = named || s.at+1 == len(tokens)
			next = list.enter(next, s)
		case t == anyToken || t == token:
			named = named || s.at+1 == len(tokens)
			next = list.enter(next, state{s.pattern, s.at + 1})
		}
	}

	return next, named
}
