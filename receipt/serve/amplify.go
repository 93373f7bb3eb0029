package serve

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// What one stream may make of its bytes. Receipts come to a few percent of it.
const (
	mostRatio   = 200     // bytes that a compressed body may hold for each of its own
	mostStreams = 4096    // streams of receipts, whose names have a KiB each on average
	mostIndexed = 1 << 16 // receipts whose ids are compared
	mostOthers  = 10_000  // lines that are not receipts
	mostAnswer  = 64      // bytes of the answer for each byte of the body
	freeAnswer  = 16 << 20
)

// bounded counts what is answered to a stream, and refuses to go on.
type bounded struct {
	c      *streamed
	others int
}

// report is asked before each report is written.
func (b *bounded) report(rep *receipt.Report) error {
	if noReceipt(rep) {
		if b.others++; b.others > mostOthers {
			return protocol.Invalid("", "expected receipts: more than %d lines are none", mostOthers)
		}
	}

	if received := b.c.body.Received(); b.c.answer.Written() > freeAnswer+mostAnswer*received {
		return &protocol.Error{Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf("the answer has become %d times as long as the %d bytes that were sent: send fewer receipts at a time", mostAnswer, received)}
	}
	return nil
}

// noReceipt reports whether a document does not even have the form of a receipt.
func noReceipt(rep *receipt.Report) bool {
	if rep.Verdict != receipt.Refuted {
		return false
	}
	step := rep.Finding().Step
	return step == receipt.StepParse || step == receipt.StepSchema
}
