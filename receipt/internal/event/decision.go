package event

import "github.com/receiptkit/receiptkit/canon"

// Decisions returns what the words of a decision mean. Any other word is a
// denial: what is not known to approve does not approve.
func Decisions() Words {
	return NewWords(
		"approved", Approved, "approve", Approved, "allow", Approved, "allowed", Approved, "granted", Approved, "accepted", Approved,
		"canceled", Canceled, "cancelled", Canceled,
		"timeout", TimedOut, "timed_out", TimedOut, "expired", TimedOut,
	)
}

// DecisionOf reads what the answer of a person decides. Without the word of a decision,
// approved and accepted tell: one of them true is an approval. Whatever the word, neither
// may say otherwise.
func DecisionOf(answer canon.Node) string {
	n, decision := answer.Member("decision"), Denied
	switch {
	case n.Kind() == canon.KindString:
		decision = Decisions().Meaning(n.String(), Denied)
	case Absent(n) && (answer.Member("approved").Bool() || answer.Member("accepted").Bool()):
		decision = Approved
	}
	if decision == Approved && Declines(answer) {
		return Denied
	}
	return decision
}

// Declines reports whether an answer says that it does not approve, whatever else it says.
func Declines(answer canon.Node) bool {
	for _, name := range []string{"approved", "accepted"} {
		if n := answer.Member(name); !Absent(n) && !n.Bool() {
			return true
		}
	}
	return false
}
