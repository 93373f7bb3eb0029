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

// An AsideReader is a reader of a source whose lines tell of the session what each task has
// to know. Aside takes one that is not of the task: nothing of it was done or told there.
type AsideReader interface {
	Reader
	Aside(canon.Node)
}
