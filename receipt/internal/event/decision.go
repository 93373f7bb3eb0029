package event

import "github.com/receiptkit/receiptkit/canon"

// Decisions returns the words that mean "approved", "canceled", or "timed out". Every other word
// counts as a denial, because an unknown word must never approve anything.
func Decisions() Words {
	return NewWords(
		"approved", Approved, "approve", Approved, "allow", Approved, "allowed", Approved, "granted", Approved, "accepted", Approved,
		"canceled", Canceled, "cancelled", Canceled,
		"timeout", TimedOut, "timed_out", TimedOut, "expired", TimedOut,
	)
}

// DecisionOf returns the decision in an answer. If the answer has no member "decision", it approves
// if the member "approved" or "accepted" is true. An answer never approves if one of these two
// members is present and not true.
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

// Declines reports whether the member "approved" or "accepted" of an answer is present and not
// true.
func Declines(answer canon.Node) bool {
	for _, name := range []string{"approved", "accepted"} {
		if n := answer.Member(name); !Absent(n) && !n.Bool() {
			return true
		}
	}
	return false
}
