package story

import (
	"crypto/sha256"
	"hash"

	"github.com/receiptkit/receiptkit/canon"
)

// Prompts are what persons asked for: how often, and the digest of the JSON array of all
// their words (RFC 8785). The words are not kept.
type prompts struct {
	count   int
	sum     hash.Hash
	lines   map[string]bool // ids of lines that were counted
	inexact bool            // some line is not known as it was written
}

func (p *prompts) add(s *Story, line string, words canon.Node) {
	if p.lines[line] {
		return
	}
	if p.sum == nil {
		p.sum, p.lines = sha256.New(), map[string]bool{}
	}
	if line != "" {
		p.lines[line] = true
		s.Keep(partCost + len(line))
	}
	p.inexact = p.inexact || s.inexact
	p.sum.Write([]byte("[,"[min(p.count, 1):][:1]))
	p.sum.Write(words.AppendCanonical(nil))
	p.count++
}

func (p *prompts) write(o *object) {
	if p.count == 0 {
		return
	}
	o.within("prompts", func(o *object) {
		o.number("count", int64(p.count))
		if !p.inexact {
			p.sum.Write([]byte("]"))
			o.digest("sha256", canon.Digest(p.sum.Sum(nil)))
		}
	})
}
