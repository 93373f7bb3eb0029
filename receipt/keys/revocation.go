package keys

import (
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// ended returns keys in which a revocation holds for the key material, under every ID
// that it has. A signature names its key by ID, outside the hash, so whoever holds a
// stolen key would otherwise choose the ID that is not revoked. A key that was superseded
// ends under that ID alone: its owner may go on to use it under another. The keys that
// were given do not change.
func ended(keys []*PublicKey) []*PublicKey {
	first := map[[32]byte]*receipt.Revocation{}
	for _, k := range keys {
		if r := k.Revoked; stolen(r) && earlier(r, first[k.Thumbprint]) {
			first[k.Thumbprint] = r
		}
	}
	if len(first) == 0 {
		return keys
	}

	list := slices.Clone(keys)
	for i, k := range list {
		if r := first[k.Thumbprint]; r != nil && !(stolen(k.Revoked) && k.Revoked.At.Equal(r.At)) {
			list[i] = revoked(k, r.At, r.Reason)
		}
	}
	return list
}

// stolen reports whether a revocation refuses every signature of the key, whatever its date.
func stolen(r *receipt.Revocation) bool { return r != nil && r.Reason != receipt.ReasonSuperseded }

// earlier reports whether a revocation ends its key before another, if there is one.
func earlier(r, other *receipt.Revocation) bool { return other == nil || r.At.Before(other.At) }

// revoked returns a copy of the key with another revocation. If the key was superseded, it
// expires at that time: the new revocation spares what a witness saw before, and the
// receipts that the key signed after it was superseded must not be among these.
func revoked(k *PublicKey, at time.Time, reason string) *PublicKey {
	c := k.clone()
	if r := k.Revoked; r != nil && !stolen(r) {
		switch {
		case !r.At.After(c.NotBefore): // the key was never valid, and a file says so in no other way
			if r.At.Before(at) {
				at = r.At
			}
		case c.NotAfter.IsZero() || r.At.Before(c.NotAfter):
			c.NotAfter = r.At
		}
	}
	c.Revoked = &receipt.Revocation{At: at, Reason: reason}
	return c
}
