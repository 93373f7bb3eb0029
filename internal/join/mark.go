package join

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// A Mark states the relation of a receipt to other receipts.
type Mark uint8

// The marks. Only package survey uses the marks about the order within one source.
const (
	MarkUnplaced  Mark = iota // the document states no place in a stream
	MarkLinked                // the predecessor is in the input, or the receipt is the first of its stream
	MarkFollows               // the predecessor precedes the receipt in the same source
	MarkOpen                  // the predecessor is not in the input
	MarkMissing               // the predecessor is not in the input, but other receipts precede this one in its stream
	MarkGap                   // the predecessor is not in the input, but may be an unreadable document
	MarkFork                  // another receipt names the same predecessor
	MarkLate                  // the predecessor follows the receipt in the same source
	MarkBetween               // another receipt is between the receipt and its predecessor in the same source
	MarkElsewhere             // the named predecessor is in another stream
	MarkSecond                // another receipt also states that it is the first
	MarkForeign               // the receipt does not name the given predecessor
	MarkDamaged               // the receipt does not match its stated hash
	MarkCopy                  // a copy that is not counted
	MarkDuplicate             // another receipt has the same ID, but different content
	MarkCount                 // the number of marks
)

// Failed reports whether the mark refutes the receipt.
func (m Mark) Failed() bool {
	code := m.Code()
	return code != "" && code != receipt.CodeLinkNotChecked
}

// Open reports whether the mark leaves the link unchecked.
func (m Mark) Open() bool { return m.Code() == receipt.CodeLinkNotChecked }

// Cause returns the cause that reports give for an invalid or unchecked link, or "" for other
// marks.
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

// Code returns the code of a mark that refutes the receipt or leaves its link unchecked, or "" for
// other marks.
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
