package event

import (
	"crypto/sha256"
	"hash"

	"github.com/receiptkit/receiptkit/canon"
)

// A Content computes the digest of a message's content, which is added block by block. The digest
// is computed over the RFC 8785 form of an array of blocks. Successive text blocks are joined, so
// the digest does not depend on how the message was split.
type Content struct {
	sum    hash.Hash
	blocks int
	inText bool
}

// NewContent returns a Content without blocks.
func NewContent() *Content {
	c := &Content{sum: sha256.New()}
	c.sum.Write([]byte{'['})
	return c
}

// Block adds a block to the content. A plain text block is joined with a preceding text block.
func (c *Content) Block(n canon.Node) {
	if text := n.Member("text"); plain(n) {
		c.Text(text)
		return
	}
	c.begin()
	c.sum.Write(n.AppendCanonical(nil))
}

// Text adds a text block with the string n.
func (c *Content) Text(n canon.Node) {
	// In canonical form, the member "text" precedes "type" (RFC 8785 section 3.2.3).
	if !c.inText {
		c.begin()
		c.sum.Write([]byte(`{"text":"`))
		c.inText = true
	}

	// In canonical form, a string has only one spelling (RFC 8785 section 3.2.2.2).
	quoted := canon.AppendString(nil, n.String())
	c.sum.Write(quoted[1 : len(quoted)-1])
}

// begin ends the current text block and starts a new block.
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

// Digest completes the content and returns its digest.
func (c *Content) Digest() canon.Digest {
	c.endText()
	c.sum.Write([]byte{']'})
	return canon.Digest(c.sum.Sum(nil))
}

// plain reports whether a block is a text block without further members.
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
