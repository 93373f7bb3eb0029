package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A Finding is a reason why an entire input is refuted.
type Finding struct {
	Code     receipt.Code  `json:"code"`
	Stream   *chain.Stream `json:"-"`
	Source   string        `json:"source"` // the address of the receipt, or the file of evidence; "": neither
	Stated   string        `json:"stated"`
	Computed string        `json:"computed"`
	Detail   string        `json:"detail"`
	Hint     string        `json:"hint"`
	Cause    receipt.Cause `json:"cause,omitzero"` // as in a [receipt.Check]; "": the code is specific enough

	// Drawn reports whether the finding is about the relationship between receipts in merged parts
	// or in several streams. A merge computes such findings again.
	Drawn bool `json:"drawn,omitzero"`
}

func missingFinding(stream chain.Stream, previous canon.Digest) Finding {
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: receipt.CausePredecessorMissing, Stated: previous.String(),
		Detail: fmt.Sprintf("a part of the stream begins after %s, which no part contains: receipts are missing", previous)}
}

func forkFinding(stream chain.Stream, previous canon.Digest) Finding {
	return Finding{Code: receipt.CodeChainFork, Stream: &stream, Drawn: true, Cause: receipt.CausePredecessorShared, Stated: previous.String(),
		Detail: fmt.Sprintf("two receipts of the parts follow %s", previous)}
}

func firstsFinding(stream chain.Stream) Finding {
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: receipt.CauseSecondFirst, Stated: "null", Detail: "two parts of the stream state that nothing precedes them"}
}

func strangerFinding(stream chain.Stream, previous canon.Digest) Finding {
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: receipt.CausePredecessorElsewhere, Stated: previous.String(),
		Detail: fmt.Sprintf("a part of the stream begins after %s, a receipt of another stream", previous)}
}

// markFinding returns a finding about several parts, for a mark that does not appear in the report
// on any part.
func markFinding(m join.Mark, stream chain.Stream, f *survey.Facts) Finding {
	switch m {
	case join.MarkMissing:
		return missingFinding(stream, f.Link.Previous)
	case join.MarkFork:
		return forkFinding(stream, f.Link.Previous)
	case join.MarkSecond:
		return firstsFinding(stream)
	case join.MarkElsewhere:
		return strangerFinding(stream, f.Link.Previous)
	case join.MarkDuplicate:
		return Finding{Code: receipt.CodeDuplicateID, Stream: &stream, Drawn: true, Cause: receipt.CauseIDTaken, Stated: f.Computed.String(),
			Detail: fmt.Sprintf("two receipts have the same receipt_id and different contents; %s is one of them", f.Computed)}
	}

	// The receipt comes too early, or another receipt is between it and its predecessor.
	return Finding{Code: receipt.CodeChainBreak, Stream: &stream, Drawn: true, Cause: receipt.CauseComesEarlier, Stated: survey.Stated(f.Link),
		Detail: fmt.Sprintf("the receipt %s is out of order in a part", f.Computed)}
}
