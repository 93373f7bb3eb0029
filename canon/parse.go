package canon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A parser parses a JSON text in one pass, without recursion. Open containers are linked through
// their nodes, so the parser needs no stack, regardless of the depth.
type parser struct {
	*Document
	src    []byte // a copy of Document.src, which is faster to access
	limits Limits
	open   uint32 // the innermost open container, or none
	level  int    // number of open containers
	clean  bool   // all bytes read so far in the innermost open container are canonical
}

func (p *parser) document() error {
	if len(p.src) > p.limits.Bytes {
		return p.fail(CodeSizeLimit, 0, fmt.Sprintf("expected at most %d bytes, found more", p.limits.Bytes))
	}

	// JSON text is a value with optional whitespace before and after it (RFC 8259 section 2).
	i := p.space(0)
	if i == len(p.src) {
		return p.fail(codeEmptyInput, i, "expected a JSON value, found nothing")
	}

	i, err := p.value(i)
	for err == nil && p.open != none {
		if len(p.nodes)+2 > cap(p.nodes) && len(p.nodes) >= largeIndex {
			p.reserve(i)
		}
		i, err = p.next(i)
	}
	if err != nil {
		return err
	}

	if i = p.space(i); i < len(p.src) {
		return p.fail(codeTrailingData, i, "expected the end of the input after the value, found "+found(p.src, i))
	}

	return nil
}

// value parses a scalar (RFC 8259 section 3) or the opening bracket of a container.
func (p *parser) value(i int) (int, error) {
	if i == len(p.src) {
		return i, p.expected("a value", i)
	}
	switch c := p.src[i]; c {
	case '"':
		return p.string(i)
	case '{':
		return p.begin(KindObject, i)
	case '[':
		return p.begin(KindArray, i)
	case 't':
		return p.literal(i, "true", KindBool)
	case 'f':
		return p.literal(i, "false", KindBool)
	case 'n':
		return p.literal(i, "null", KindNull)
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return p.number(i)
		}
		return i, p.expected("a value", i)
	}
}

// next parses the input at i in the innermost open container: the end of the container, or a
// separator and the next value. There is no separator before the first value.
func (p *parser) next(i int) (int, error) {
	i = p.space(i)
	container := &p.nodes[p.open]
	first := p.open == uint32(len(p.nodes)-1)
	last := byte(']')
	if container.kind == KindObject {
		last = '}'
	}

	if i == len(p.src) {
		return i, p.expectedNext(last, first, i)
	}

	// There is a comma between two values, but none before the closing bracket (RFC 8259 sections 4
	// and 5).
	switch c := p.src[i]; {
	case c == last:
		return p.end(i)
	case first:
	case c == ',':
		i = p.space(i + 1)
	default:
		return i, p.expectedNext(last, first, i)
	}

	// A member is a string, a colon, and a value (RFC 8259 section 4).
	if container.kind == KindObject {
		var err error
		if i, err = p.name(i); err != nil {
			return i, err
		}
	}

	return p.value(i)
}

func (p *parser) expectedNext(last byte, first bool, i int) error {
	what := `","`
	switch {
	case first && last == '}':
		what = "a member name"
	case first:
		what = "a value"
	}
	return p.expected(fmt.Sprintf("%s or %q", what, string(last)), i)
}

func (p *parser) begin(kind Kind, i int) (int, error) {
	if p.level++; p.level > p.limits.Depth {
		return i, p.fail(CodeDepthLimit, i, fmt.Sprintf("expected at most %d nested levels, found more", p.limits.Depth))
	}
	p.depth = max(p.depth, p.level)

	// The flag clean applies to the innermost open container, so the parent's state is saved in the
	// parent's node.
	parent := p.open
	if parent != none && !p.clean {
		p.nodes[parent].flags &^= flagClean
	}

	p.open, p.clean = uint32(len(p.nodes)), true
	n := p.push()
	n.start, n.next, n.aux = uint32(i), parent, none
	n.kind, n.flags = kind, flagClean|flagSorted
	return i + 1, nil
}

func (p *parser) end(i int) (int, error) {
	at := p.open
	n := &p.nodes[at]
	parent := n.next

	// If names are in strictly ascending order, no name occurs twice (RFC 7493 section 2.3).
	if n.kind == KindObject && n.flags&flagSorted == 0 {
		if twice := p.rank(at); twice != none {
			return i, p.duplicate(at, twice)
		}
		p.clean = false
	} else {
		n.aux = none
	}

	if !p.clean {
		n.flags &^= flagClean
	}
	n.end = uint32(i + 1)
	n.next = uint32(len(p.nodes))

	// The parent remains clean only if this value and all earlier values are clean.
	p.open = parent
	p.level--
	if parent != none {
		p.clean = p.clean && p.nodes[parent].flags&flagClean != 0
	}

	return i + 1, nil
}

func (p *parser) duplicate(object, name uint32) error {
	p.nodes[object].aux = name // the error is about this member, so later names must be disregarded
	p.nodes = p.nodes[:name+1]
	return p.fail(codeDuplicateName, int(p.nodes[name].start), fmt.Sprintf("duplicate member name %q", untrusted.Cut(p.text(name), maxQuoted)))
}

// name parses the name of a member and the colon after it.
func (p *parser) name(i int) (int, error) {
	if i == len(p.src) || p.src[i] != '"' {
		return i, p.expected("a member name in double quotes", i)
	}
	at := uint32(len(p.nodes))
	i, err := p.string(i)
	if err != nil {
		return i, err
	}

	// Members that are in order do not have to be sorted (RFC 8785 section 3.2.3).
	object := &p.nodes[p.open]
	if previous := object.aux; previous != none && object.flags&flagSorted != 0 &&
		compareNames(p.text(previous), p.text(at)) >= 0 {
		object.flags &^= flagSorted
	}
	object.aux = at

	if i = p.space(i); i == len(p.src) || p.src[i] != ':' {
		return i, p.expected(`":" after the member name`, i)
	}
	return p.space(i + 1), nil
}

func (p *parser) literal(i int, text string, kind Kind) (int, error) {
	for j := range len(text) {
		if i+j == len(p.src) || p.src[i+j] != text[j] {
			return i, p.expected(text, i+j)
		}
	}
	p.add(kind, i, i+len(text), none, true)
	return i + len(text), nil
}

// add appends the node of a scalar.
func (p *parser) add(kind Kind, start, end int, aux uint32, clean bool) {
	flags := uint8(flagClean)
	if !clean {
		flags, p.clean = 0, false
	}
	n := p.push()
	n.start, n.end = uint32(start), uint32(end)
	n.next, n.aux = uint32(len(p.nodes)), aux
	n.kind, n.flags = kind, flags
}

// space skips whitespace.
func (p *parser) space(i int) int {
	if i < len(p.src) && p.src[i] > ' ' {
		return i
	}
	return p.skip(i)
}

// skip skips whitespace, eight spaces at a time. Whitespace consists of space, tab, line feed, and
// carriage return (RFC 8259 section 2).
func (p *parser) skip(begin int) int {
	i := begin
	for ; i < len(p.src); i++ {
		// Indentation usually consists of spaces.
		for i+8 <= len(p.src) {
			w := binary.LittleEndian.Uint64(p.src[i:i+8]) ^ ones*' '
			i += bits.TrailingZeros64(w) / 8
			if w != 0 {
				break
			}
		}
		if i == len(p.src) {
			break
		}
		if c := p.src[i]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			break
		}
	}

	// Whitespace is not canonical (RFC 8785 section 3.2.1).
	if i > begin {
		p.clean = false
	}
	return i
}

// reserve makes p.nodes large enough for the rest of the source from offset i, which must not be
// inside a string.
func (p *parser) reserve(i int) {
	n := len(p.nodes)
	larger := make([]node, n, n+mostNodes(p.src[i:])+2)
	copy(larger, p.nodes)
	p.nodes = larger
}

// fail returns a *SyntaxError. It computes the fields that only an error needs.
func (p *parser) fail(code Code, offset int, detail string) error {
	offset = min(offset, len(p.src))
	before := p.src[:offset]
	e := &SyntaxError{
		Offset:  offset,
		Line:    bytes.Count(before, []byte{'\n'}) + 1,
		Column:  offset - bytes.LastIndexByte(before, '\n'),
		Pointer: stop{p, offset}.pointer(),
		Code:    code,
		Detail:  detail,
	}
	e.Hint = hint(p.src, e)
	return e
}

// expected returns a syntax error that describes the character at offset.
func (p *parser) expected(what string, offset int) error {
	return p.fail(CodeSyntax, offset, "expected "+what+", found "+found(p.src, offset))
}
