package bridge

import (
	"cmp"
	"math"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A Candidate is a skill that may fit.
type Candidate struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	WhenToUse   string   `json:"when_to_use"`
	Paths       []string `json:"paths"`
}

// A Matching asks the host which skills fit a prompt: skill/match.
type Matching struct {
	Strategy     string      `json:"strategy"` // host
	Prompt       string      `json:"prompt"`
	WorkingFiles []string    `json:"working_files"`
	Candidates   []Candidate `json:"candidates"`
}

// A Match is a skill that fits.
type Match struct {
	Name   string
	Score  float64 // higher is better
	Reason string
}

// Match reads the answer to skill/match: {matches: […]}, {skills: […]}, an array, or one of
// these in a result. Of the host's word only names of candidates count. When it failed, or
// cannot be read, the runtime ranks by itself, and why says so.
func (m Matching) Match(answer *Message, err error) (matches []Match, why error) {
	if err != nil {
		return rank(m), err
	}
	entries, ok := list(answer.Root.Member("result"), "matches", "skills")
	if !ok {
		return rank(m), shapeError("skill/match", "an array of matches, alone or as the member matches or skills")
	}

	for _, n := range entries.Elements() {
		name := text(n.Member("name"))
		known := slices.ContainsFunc(m.Candidates, func(c Candidate) bool { return c.Name == name })
		again := slices.ContainsFunc(matches, func(x Match) bool { return x.Name == name })
		score, good := scoreOf(n)
		if known && !again && good {
			matches = append(matches, Match{name, score, event.Shorten(cmp.Or(text(n.Member("reason")), "host match"))})
		}
	}
	byScore(matches)
	return matches, nil
}

// scoreOf reads a score: 1 when none is told. One that is less than nothing ranks nowhere.
func scoreOf(n canon.Node) (score float64, good bool) {
	s := n.Member("score")
	if event.Absent(s) {
		return 1, true
	}
	score = s.Float()
	return score, s.Kind() == canon.KindNumber && score >= 0 && !math.IsInf(score, 0)
}

// byScore sorts the best first; equal ones stay in their order.
func byScore(matches []Match) {
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
}
