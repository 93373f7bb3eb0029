package aggregate

import (
	"github.com/receiptkit/receiptkit/canon"
)

// maxKept bounds the memory for parts, in bytes: enough for 65,536 receipts of ordinary size.
const maxKept = 64 << 20

// A sighting is a receipt in one of the two classes. Copies with different signatures can be in
// both classes, and then each class counts its own copy.
type sighting struct {
	hash     canon.Digest
	verified bool
}

// versions are the receipts that were added, and those that were superseded, so that the
// sums contain the newest version of each.
type versions struct {
	seen       map[sighting]place
	issuers    map[string]uint32
	superseded map[version]bool // whether a verified receipt supersedes it
	kept       int              // bytes of all parts
}

// A version is a receipt of an issuer. The receipt of another issuer is not its successor.
type version struct {
	issuer uint32
	hash   canon.Digest
}

// A place records how a receipt was processed. Without a part, it is in no sum, unless it is fixed.
type place struct {
	issuer uint32
	fixed  bool  // the receipt, or an older version of it, is in the sums and cannot be subtracted
	part   *part // what the receipt added to the sums
}

// issuer returns the number of an issuer, 0 if there are too many.
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

// first remembers a receipt. It reports whether this is its first copy and whether there was
// room to remember it.
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

// supersede records that a receipt of the class supersedes old. It returns the parts that old
// added, and how many of its copies stay in the sums. If one of these copies is of the same class,
// blocked is true, and the successor must not be added.
func (v *versions) supersede(old version, verified bool) (parts []*part, stay int, blocked bool) {
	// Once the memory is full, further successors are not recorded.
	if _, known := v.superseded[old]; known || len(v.superseded) < maxSeen {
		if v.superseded == nil {
			v.superseded = map[version]bool{}
		}
		v.superseded[old] = v.superseded[old] || verified
	}

	// Copies of both classes may be in the sums. An unverified receipt supersedes no verified one.
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

// old reports whether a receipt that was added before supersedes this one. Anyone can write
// an issuer's name, so a receipt that nobody has confirmed does not supersede a verified one.
func (v *versions) old(s sighting, issuer uint32) bool {
	confirmed, known := v.superseded[version{issuer, s.hash}]
	return known && (confirmed || !s.verified)
}

// keep keeps what a receipt added to the sums, if there is room.
func (v *versions) keep(s sighting, p *part) {
	at, remembered := v.seen[s]
	if !remembered {
		return
	}

	// Without room for its part, the receipt can no longer be subtracted.
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
