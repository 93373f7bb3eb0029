package event

import (
	"crypto/sha256"
	"hash"

	"github.com/receiptkit/receiptkit/canon"
)

// A Content is what a message holds, while its blocks come. Its digest is that of an array
// of blocks in RFC 8785 form, in which texts that follow each other are one: it does not
// depend on where a message was cut.
type Content struct {
	sum    hash.Hash
	blocks int
	inText bool
}

// NewContent returns one without blocks.
func NewContent() *Content {
	c := &Content{sum: sha256.New()}
	c.sum.Write([]byte{'['})
	return c
}

// Block adds a block. A text that says no more than that is joined with the one before.
func (c *Content) Block(n canon.Node) {
	if text := n.Member("text"); plain(n) {
		c.Text(text)
		return
	}
	c.begin()
	c.sum.Write(n.AppendCanonical(nil))
}

// Text adds a text block, of which a string is the text.
func (c *Content) Text(n canon.Node) {
	// RFC 8785 section 3.2.3: the member text comes before type.
	if !c.inText {
		c.begin()
		c.sum.Write([]byte(`{"text":"`))
		c.inText = true
	}

	// RFC 8785 section 3.2.2.2: a string has one spelling.
	quoted := canon.AppendString(nil, n.String())
	c.sum.Write(quoted[1 : len(quoted)-1])
}

// begin ends the text before a block.
func (c *Content) begin() {
	c.endText()
	if c.blocks++; c.blocks > 1 {
		c.sum.Write([]byte{','})
	}
}

func (c *Content) endText() {
	if c.inText {
		c.sum.Write([]byte(`","type":"text"}`))
		c.inText = false
	}
}

// Digest ends the message.
func (c *Content) Digest() canon.Digest {
	c.endText()
	c.sum.Write([]byte{']'})
	return canon.Digest(c.sum.Sum(nil))
}

// plain reports whether a block is a text and says no more than that.
func plain(n canon.Node) bool {
	if n.Member("type").String() != "text" || n.Member("text").Kind() != canon.KindString {
		return false
	}
	for name, value := range n.Members() {
		if s := name.String(); s != "type" && s != "text" && !Absent(value) {
			return false
		}
	}
	return true
}
