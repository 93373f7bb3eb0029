package batch

import (
	"github.com/receiptkit/receiptkit/canon"
)

// The rule that a root is made by, and what is wrong with upstream's older one.
const (
	rule = "; a root is made by RFC 9162 section 2.1.1 over the leaf hashes SHA-256(0x00 ‖ the canonical form of a receipt without chain and signatures)"

	ambiguous = ": it hashes their texts and pairs an odd node with itself, so different lists have one root (CVE-2012-2459)"
)

// upstreamRoot returns the root that the receipts harn-provenance-receipt-v1
// have over their events: the leaves are the texts "sha256:…", a parent is the
// text of the SHA-256 of two texts joined, and an odd node is paired with
// itself. It serves to tell such a root, never to accept it.
func upstreamRoot(level []canon.Digest) canon.Digest {
	for len(level) > 1 {
		var parents []canon.Digest
		for i := 0; i < len(level); i += 2 {
			left, right := level[i], level[min(i+1, len(level)-1)]
			parents = append(parents, canon.Sum([]byte(left.String()+right.String())))
		}
		level = parents
	}
	return level[0]
}
