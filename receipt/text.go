package receipt

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
)

func kindName(k canon.Kind) string {
	switch k {
	case canon.KindNull:
		return "null"
	case canon.KindBool:
		return "a boolean"
	case canon.KindNumber:
		return "a number"
	case canon.KindString:
		return "a string"
	case canon.KindArray:
		return "an array"
	case canon.KindObject:
		return "an object"
	}
	return "nothing"
}

// place returns the pointer of n, which its names could make as long as the
// receipt, bounded as package canon bounds those of its errors.
func place(n canon.Node) string { return foreign.Cut(n.Pointer(), 256) }

// excerpt bounds foreign text for a message. Whoever prints it must escape it.
func excerpt(text []byte) string { return foreign.Cut(text, 80) }

func quoted(s string) string { return fmt.Sprintf("%+q", s) }

func quotedList(list []string) string {
	if len(list) == 0 {
		return "the issuer that is asked for"
	}
	const most = 3
	text := quoted(list[0])
	for _, s := range list[1:min(len(list), most)] {
		text += ", " + quoted(s)
	}
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
