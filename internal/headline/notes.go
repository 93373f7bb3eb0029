package headline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// maxSkipped is the maximum number of skipped inputs that a note names.
const maxSkipped = 10

// Notes returns all notes about checks that a run did not make. Every format lists these notes. In
// addition to the notes in the summary, there are notes about the limits of the run, about single
// documents by code, and about skipped inputs. The notes name no flags, because the page has none.
func Notes(s *stream.Summary) []receipt.Note {
	var notes []receipt.Note
	if !s.Complete && len(s.Inputs.Unreadable) == 0 { // the run was stopped
		notes = append(notes, receipt.Note{Code: receipt.CodeNotRead, Detail: "the rest of the input, which was not read"})
	}
	if s.Partial {
		notes = append(notes, receipt.Note{Code: receipt.CodeLinkNotChecked, Detail: "whether receipts are missing: the input is a selection"})
	}
	if n := unreadable(s); n > 0 {
		notes = append(notes, receipt.Note{Code: receipt.CodeLinkNotChecked, Detail: "whether receipts are missing: " + Plural(n, "unreadable document", "") + " may be among them"})
	}
	if at := s.At(); !at.IsZero() {
		notes = append(notes, receipt.Note{Code: receipt.CodeValidityNotChecked, Detail: "whether keys were valid when the receipts were issued: they were checked as of " + at.String()})
	}
	notes = append(append(notes, s.NotChecked...), Unchecked(s.Unchecked, s.Withheld)...)

	var names []string
	for _, n := range s.Skipped[:min(len(s.Skipped), maxSkipped)] {
		names = append(names, fmt.Sprintf("%s (%s)", untrusted.Cut(n.Source, maxName), n.Detail))
	}
	if more := s.SkippedCount - len(names); len(names) > 0 && more > 0 {
		names = append(names, Plural(more, "other", ""))
	}
	if len(names) > 0 {
		notes = append(notes, receipt.Note{Code: receipt.CodeNotRead, Detail: "skipped files: " + strings.Join(names, ", ")})
	}
	return notes
}

// unreadable returns the number of documents that are so damaged that they state no position. Each
// of them excuses one missing receipt.
func unreadable(s *stream.Summary) (documents int) {
	for code, n := range s.Codes {
		if info, _ := receipt.Lookup(code); info.Where == "parse" && code != receipt.CodeForeignReceipt {
			documents += n
		}
	}
	return documents
}

// Unchecked describes the checks that were not made for several documents, given the number of
// documents for each code and the number of withheld values. It omits codes that leave a receipt
// undecided, because the verdict already reflects them.
func Unchecked(documents map[receipt.Code]int, withheld int) (notes []receipt.Note) {
	for _, code := range slices.Sorted(maps.Keys(documents)) {
		note := receipt.Note{Code: code}
		if note.Undecides() {
			continue
		}
		of := Plural(documents[code], "receipt", "")

		// Each code has its own noun. A code without a noun is reported by its name.
		switch code {
		case "signatures_not_checked":
			note.Detail = "the signatures of " + of + ": only integrity was verified"
		case "redactions_not_checked":
			note.Detail = Plural(withheld, "withheld value", "") + " of " + of + ", not disclosed"
		case "batch_not_checked":
			note.Detail = "the batch of " + of + ", which was not given"
		case "unauthenticated_members":
			note.Detail = "key_id, algorithm, and signed_at of " + of + ", which are outside the hash and not in a JWS"
		default:
			note.Detail = string(code) + " of " + of
		}
		notes = append(notes, note)
	}

	return notes
}
