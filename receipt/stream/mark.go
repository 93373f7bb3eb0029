package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A mark says how a receipt stands to the others.
type mark = join.Mark

// markFinding says of several parts what a mark says of a receipt of theirs, which no
// report of a part has said.
func markFinding(m mark, stream chain.Stream, f *facts) Finding {
	switch m {
	case join.MarkMissing:
		return missingFinding(stream, f.link.Previous)
	case join.MarkFork:
		return forkFinding(stream, f.link.Previous)
	case join.MarkSecond:
		return firstsFinding(stream)
	case join.MarkElsewhere:
		return strangerFinding(stream, f.link.Previous)
	case join.MarkDuplicate:
		return Finding{Code: receipt.CodeDuplicateID, Stream: &stream, Drawn: true, Cause: vocab.CauseIDTaken, Stated: f.computed.String(),
			Detail: fmt.Sprintf("two receipts have one receipt_id and different contents; %s is one of them", f.computed)}
	}

	// It comes too early, or another one stands between.
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: vocab.CauseComesEarlier, Stated: stated(f.link),
		Detail: fmt.Sprintf("the receipt %s is out of its order in a part", f.computed)}
}

// isOpen reports whether a mark says that nothing shows whether a link holds.
func isOpen(m mark) bool { return m.Code() != "" && !m.Failed() }
