package protocol

import (
	"github.com/receiptkit/receiptkit/canon"
)

// A view is written while a document is read.
type view struct {
	client *Client
	text   []byte
	hidden int // objects that the client may not see
}

func (v *view) value(n canon.Node) {
	switch {
	case n.Kind() == canon.KindArray:
		v.array(n)
	case n.Kind() != canon.KindObject:
		v.text = append(v.text, n.Raw()...)
	case v.sees(n):
		v.object(n, func(canon.Node, canon.Node) bool { return true })
	default:
		v.hidden++
		v.object(n, isName)
	}
}

func (v *view) array(n canon.Node) {
	v.text = append(v.text, '[')
	begin := len(v.text)
	for _, element := range n.Elements() {
		if !v.sees(element) {
			v.hidden++
			continue
		}
		v.separate(begin)
		v.value(element)
	}
	v.text = append(v.text, ']')
}

// isName reports whether a member is kept of an object that the client may not see.
func isName(name, value canon.Node) bool {
	known := name.String() == "id" || name.String() == "object" || name.String() == "visibility"
	return known && value.Kind() == canon.KindString
}

func (v *view) object(n canon.Node, keep func(name, value canon.Node) bool) {
	v.text = append(v.text, '{')
	begin := len(v.text)
	for name, value := range n.Members() {
		if !keep(name, value) {
			continue
		}
		v.separate(begin)
		v.text = append(append(v.text, name.Raw()...), ':')
		v.value(value)
	}
	v.text = append(v.text, '}')
}

func (v *view) separate(begin int) {
	if len(v.text) > begin {
		v.text = append(v.text, ',')
	}
}

// sees reports whether the client may see a value.
func (v *view) sees(n canon.Node) bool {
	if n.Kind() != canon.KindObject {
		return true
	}
	visibility := n.Member("visibility")
	return visibility.Kind() != canon.KindString || v.client.Sees(visibility.String())
}
