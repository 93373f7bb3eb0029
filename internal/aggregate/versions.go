package aggregate

import (
	"github.com/receiptkit/receiptkit/canon"
)

// maxKept is the memory limit for parts in bytes, which is enough for 65,536 receipts of ordinary
// size.
const maxKept = 64 << 20

// A sighting is a receipt in one of the two classes. If copies have different signatures, both
// classes may contain a copy, and each class counts its own copy.
type sighting struct {
	hash     canon.Digest
	verified bool
}

// versions contains the added receipts and the superseded receipts, so that the sums contain only
// the newest version of each receipt.
type versions struct {
	seen       map[sighting]place
	issuers    map[string]uint32
	superseded map[version]bool // whether a verified receipt supersedes the version
	kept       int              // total size of all parts in bytes
}

// A version identifies a receipt of an issuer. A receipt of another issuer cannot supersede it.
type version struct {
	issuer uint32
	hash   canon.Digest
}

// A place records how a receipt was processed. A receipt without a part is in no sum, unless fixed
// is set.
type place struct {
	issuer uint32
	fixed  bool  // the receipt, or an older version of it, is in the sums and cannot be subtracted
	part   *part // the contribution of the receipt to the sums
}

// issuer returns the number of an issuer, or 0 if there are too many issuers.
func (v *versions) issuer(root canon.Node) uint32 {
	id := root.Member("issuer").Member("id").String()
	number, known := v.issuers[id]
	if !known && len(v.seen) < maxSeen {
		if v.issuers == nil {
			v.issuers = map[string]uint32{}
		}
		number = uint32(len(v.issuers) + 1)
		v.issuers[id] = number
	}
	return number
}

// first records a receipt. It reports whether the receipt is the first copy, and whether there was
// enough room to store its hash.
func (v *versions) first(s sighting, issuer uint32) (first, remembered bool) {
	if _, again := v.seen[s]; again {
		return false, true
	}
	if len(v.seen) >= maxSeen {
		return true, false
	}

	if v.seen == nil {
		v.seen = map[sighting]place{}
	}
	v.seen[s] = place{issuer: issuer}
	return true, true
}

// supersede records that a receipt of a class supersedes the version old. It returns the parts that
// old contributed, and the number of copies of old that stay in the sums. If a copy that stays is
// of the same class, blocked is true, and the successor must not be added.
func (v *versions) supersede(old version, verified bool) (parts []*part, stay int, blocked bool) {
	// If there are too many superseded versions, no more are recorded.
	if _, known := v.superseded[old]; known || len(v.superseded) < maxSeen {
		if v.superseded == nil {
			v.superseded = map[version]bool{}
		}
		v.superseded[old] = v.superseded[old] || verified
	}

	// Copies in both classes may be in the sums. An unverified receipt cannot supersede a verified
	// receipt.
	for _, class := range []bool{false, true} {
		s := sighting{old.hash, class}
		p, counted := v.seen[s]
		switch {
		case !counted || p.issuer != old.issuer || class && !verified:
		case p.fixed:
			stay++
			blocked = blocked || class == verified
		case p.part != nil:
			parts = append(parts, p.part)
			v.kept -= p.part.size()
			v.seen[s] = place{issuer: p.issuer}
		}
	}

	return parts, stay, blocked
}

// old reports whether a receipt that was added earlier supersedes this receipt. Anyone can write an
// issuer's name, so an unconfirmed receipt does not supersede a verified receipt.
func (v *versions) old(s sighting, issuer uint32) bool {
	confirmed, known := v.superseded[version{issuer, s.hash}]
	return known && (confirmed || !s.verified)
}

// keep stores the contribution of a receipt, if there is enough room.
func (v *versions) keep(s sighting, p *part) {
	at, remembered := v.seen[s]
	if !remembered {
		return
	}

	// If there is no room for its part, the receipt can no longer be subtracted.
	if at.fixed = v.kept+p.size() > maxKept; !at.fixed {
		at.part = p
		v.kept += p.size()
	}
	v.seen[s] = at
}

// fix records that an older version of a receipt stays in the sums.
func (v *versions) fix(s sighting) {
	if at, remembered := v.seen[s]; remembered {
		at.fixed = true
		v.seen[s] = at
	}
}
