package stream

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// dependsOnOthers reports whether a note is not about a document alone: the documents or the
// envelope around it decide the note, or the note only states that another step failed.
func dependsOnOthers(code receipt.Code) bool {
	switch code {
	case receipt.CodeLinkNotChecked, vocab.CodeCopyNotChecked, vocab.CodeEnvelopeNotChecked, vocab.CodeStepNotReached:
		return true
	}
	return false
}

func noted(list []receipt.Note, code receipt.Code) bool {
	return slices.ContainsFunc(list, func(n receipt.Note) bool { return n.Code == code })
}

// checkUnchecked makes sure that a summary counts no more documents than it has.
func checkUnchecked(s *Summary) error {
	for code, n := range s.Unchecked {
		if n <= 0 || n > s.Receipts+s.Copies {
			return fmt.Errorf("it leaves %.40q unchecked of %d documents", code, n)
		}
	}
	if s.Withheld < 0 || s.Withheld > 0 && len(s.Unchecked) == 0 {
		return fmt.Errorf("it counts %d withheld values", s.Withheld)
	}
	return nil
}
