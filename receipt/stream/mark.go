package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// A mark says how a receipt stands to the others.
type mark uint8

const (
	markUnplaced  mark = iota
	markLinked         // its predecessor is there, or it is the first of its stream
	markFollows        // its predecessor is there, before it in the same source
	markOpen           // its predecessor is not in the input
	markMissing        // neither, but others of its stream precede it
	markGap            // the same, and something unreadable may be it
	markFork           // another receipt names the same predecessor
	markLate           // its predecessor comes after it in the same source
	markBetween        // another receipt stands between it and its predecessor in the same source
	markElsewhere      // the one that it names is a receipt of another stream
	markSecond         // another receipt too states to be the first
	markForeign        // it does not name the predecessor that was given
	markDamaged        // it does not fit its own hash
	markCopy           // the same receipt was there before
	markDuplicate      // its id was there before, with another content
)

// failed reports whether a mark refutes.
func (m mark) failed() bool {
	switch m {
	case markMissing, markFork, markLate, markBetween, markElsewhere, markSecond, markForeign, markDuplicate:
		return true
	}
	return false
}

// finding says of several parts what a mark says of a receipt of theirs, which no
// report of a part has said.
func (m mark) finding(stream chain.Stream, f *facts) Finding {
	switch m {
	case markMissing:
		return missingFinding(stream, f.link.Previous)
	case markFork:
		return forkFinding(stream, f.link.Previous)
	case markSecond:
		return firstsFinding(stream)
	case markElsewhere:
		return strangerFinding(stream, f.link.Previous)
	case markDuplicate:
		return Finding{Code: receipt.CodeDuplicateID, Stream: &stream, Drawn: true, Cause: vocab.CauseIDTaken, Stated: f.computed.String(),
			Detail: fmt.Sprintf("two receipts have one receipt_id and different contents; %s is one of them", f.computed)}
	}

	// It comes too early, or another one stands between.
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: vocab.CauseComesEarlier, Stated: stated(f.link),
		Detail: fmt.Sprintf("the receipt %s is out of its order in a part", f.computed)}
}
