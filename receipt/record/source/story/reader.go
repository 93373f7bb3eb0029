package story

import "github.com/receiptkit/receiptkit/canon"

// A Reader makes a story of the lines of one source.
type Reader interface {
	// Line takes a line, a JSON object; it is valid until Line returns. What it does not
	// know it counts, and nothing is refused.
	Line(canon.Node)

	// End says that there are no more lines, of any log.
	End()
}
