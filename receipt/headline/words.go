package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
)

// Words are a sentence, in parts. The parts at odd places are words of the receipt, which
// may be hostile; all others are written here.
type Words []string

// String returns the sentence. The caller must escape it.
func (w Words) String() string { return strings.Join(w, "") }

// add appends words of ours.
func (w Words) add(text ...string) Words {
	if len(w)%2 == 0 {
		w = append(w, "")
	}
	w[len(w)-1] += strings.Join(text, "")
	return w
}

// quote appends a value of the receipt, bounded.
func (w Words) quote(n canon.Node) Words {
	const most = 300
	text := "(absent)"
	switch n.Kind() {
	case canon.KindInvalid:
	case canon.KindString:
		text = foreign.Cut(n.Text(), most)
	default:
		text = foreign.Cut(n.AppendCanonical(nil), most)
	}
	return append(w.add(), text)
}

// join appends other words.
func (w Words) join(other Words) Words {
	for i, text := range other {
		if i%2 == 0 {
			w = w.add(text)
		} else {
			w = append(w.add(), text)
		}
	}
	return w
}
