package wire

import (
	"fmt"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// KindName returns the name that errors use for a kind of value.
func KindName(k canon.Kind) string {
	switch k {
	case canon.KindNull:
		return "null"
	case canon.KindBool:
		return "true or false"
	case canon.KindNumber:
		return "a number"
	case canon.KindString:
		return "a text"
	case canon.KindArray:
		return "an array"
	case canon.KindObject:
		return "an object"
	}
	return "nothing"
}

// isCount reports whether a value is a nonnegative integer.
func isCount(n canon.Node) bool {
	_, err := strconv.ParseUint(string(n.Raw()), 10, 53)
	return n.Kind() == canon.KindNumber && err == nil
}

// Natural returns a member that is a nonnegative integer.
func Natural(n canon.Node, name string) (uint64, error) {
	member := n.Member(name)
	value, err := strconv.ParseUint(string(member.Raw()), 10, 53)
	if member.Kind() != canon.KindNumber || err != nil {
		return 0, fmt.Errorf("expected a whole number from 0 on as %s, found %s", name, Quote(string(member.Raw())))
	}
	return value, nil
}

// Canonical returns the canonical form of a value (RFC 8785).
func Canonical(n canon.Node) string { return string(n.AppendCanonical(nil)) }
