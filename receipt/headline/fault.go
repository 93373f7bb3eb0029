package headline

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// Fault returns a short name of the mistake that a cause states, such as "missing
// predecessor", for a line that otherwise has only the code. It is "" if the code says all.
func Fault(cause receipt.Cause) string {
	switch cause {
	case "predecessor_missing":
		return "missing predecessor"
	case "predecessor_other", "predecessor_not_given":
		return "another predecessor"
	case "predecessor_elsewhere":
		return "link into another stream"
	case "second_first":
		return "two beginnings"
	case "predecessor_later", "comes_earlier", "named_earlier":
		return "wrong order"
	case "zero_hash":
		return "no predecessor named"
	}
	return ""
}
