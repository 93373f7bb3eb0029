package rules

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// A Mark says how a receipt stands to the others.
type Mark uint8

// The marks. Those that are about the order of one source are a survey's alone.
const (
	MarkUnplaced  Mark = iota // the document states no place in a stream
	MarkLinked                // its predecessor is there, or it is the first of its stream
	MarkFollows               // its predecessor is there, before it in the same source
	MarkOpen                  // its predecessor is not in the input
	MarkMissing               // neither, but others of its stream precede it
	MarkGap                   // the same, and something unreadable may be it
	MarkFork                  // another receipt names the same predecessor
	MarkLate                  // its predecessor comes after it in the same source
	MarkBetween               // another receipt stands between it and its predecessor in the same source
	MarkElsewhere             // the one that it names is a receipt of another stream
	MarkSecond                // another receipt too states to be the first
	MarkForeign               // it does not name the predecessor that was given
	MarkDamaged               // it does not fit its own hash
	MarkCopy                  // a copy that does not count
	MarkDuplicate             // its id is another receipt's too, with another content
	MarkCount                 // how many there are
)

// Failed reports whether a mark refutes.
func (m Mark) Failed() bool {
	code := m.Code()
	return code != "" && code != receipt.CodeLinkNotChecked
}

// Open reports whether a mark says that nothing shows whether a link holds.
func (m Mark) Open() bool { return m.Code() == receipt.CodeLinkNotChecked }

// Cause is why a link is false or was left open, as reports say it; "" otherwise.
func (m Mark) Cause() receipt.Cause {
	switch m {
	case MarkOpen:
		return receipt.CausePredecessorAbsent
	case MarkMissing:
		return receipt.CausePredecessorMissing
	case MarkGap:
		return receipt.CauseUnreadable
	case MarkFork:
		return receipt.CausePredecessorShared
	case MarkLate:
		return receipt.CausePredecessorLater
	case MarkBetween:
		return receipt.CauseComesEarlier
	case MarkElsewhere:
		return receipt.CausePredecessorElsewhere
	case MarkSecond:
		return receipt.CauseSecondFirst
	case MarkForeign:
		return receipt.CausePredecessorNotGiven
	case MarkDamaged:
		return receipt.CauseOwnHash
	case MarkDuplicate:
		return receipt.CauseIDTaken
	}
	return ""
}

// Code is the code of a mark that refutes or leaves a link open; "" otherwise.
func (m Mark) Code() receipt.Code {
	switch m {
	case MarkMissing, MarkLate, MarkBetween, MarkElsewhere, MarkSecond, MarkForeign:
		return receipt.CodeChainBreak
	case MarkFork:
		return receipt.CodeChainFork
	case MarkDuplicate:
		return receipt.CodeDuplicateID
	case MarkOpen, MarkGap, MarkDamaged:
		return receipt.CodeLinkNotChecked
	}
	return ""
}
