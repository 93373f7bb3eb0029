package headline

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Unchecked words what the reports of several documents leave unchecked: documents by the
// code of the note, and the number of withheld values. Codes that leave a receipt undecided
// are not in it: they explain its verdict.
func Unchecked(documents map[receipt.Code]int, withheld int) (notes []receipt.Note) {
	for _, code := range slices.Sorted(maps.Keys(documents)) {
		note := receipt.Note{Code: code}
		if note.Undecides() {
			continue
		}
		of := Plural(documents[code], "receipt", "")
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
