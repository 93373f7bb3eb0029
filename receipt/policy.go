package receipt

import (
	"errors"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A Policy says what a receipt must show to be verified. The zero Policy asks
// for one valid signature by a key that may speak for the receipt's issuer.
type Policy struct {
	// Issuer is the issuer.id that receipts must have. Keys that list no
	// issuers of their own speak for it. Empty: any issuer, and such keys speak
	// for nobody.
	Issuer string

	// Witnesses asks for countersignatures. Zero: none.
	Witnesses Quorum

	// Checkpoint asks that the receipt is shown to be in a checkpoint of a
	// trusted log. Zero: not asked for.
	Checkpoint CheckpointRule

	// At is the time at which the validity of keys is judged. Zero: at the
	// receipt's own issued_at, which is inside the hash.
	At time.Time

	// Now is the current time. A receipt issued later is a warning. Zero: not
	// judged.
	Now time.Time

	// IntegrityOnly asks only whether the content fits its hash. The report's
	// scope says so. Signatures are then not looked at.
	IntegrityOnly bool

	// Strict leaves every receipt undecided of which any applicable step was
	// not checked. A receipt that states that nothing precedes it has no
	// predecessor to check, alone as among others.
	Strict bool

	// Plain turns every fast path off: canonical bytes by gowebpki/jcs, the
	// schema by jsonschema, signatures by the standard library (a JWS through
	// go-jose).
	Plain bool

	// NoInputDigest leaves InputSHA256 out of reports, for callers that do not
	// show it. Hashing the input costs a sixth of a receipt's time without its
	// signatures.
	NoInputDigest bool

	// Limits bound the input below what the format allows ([MaxBytes],
	// [MaxDepth]); a receipt beyond them is undecided. Zero: the format's.
	Limits canon.Limits
}

// A CheckpointRule says what a checkpoint must show. It is met by one checkpoint
// that includes the receipt ([Evidence.Proofs]).
type CheckpointRule struct {
	// Required leaves every receipt undecided that is not shown to be in a
	// checkpoint of a trusted log.
	Required bool

	// Cosigners is how many witnesses must have cosigned that checkpoint. They
	// are counted by distinct key material, which is neither the log's nor the
	// issuer's. A threshold asks for a checkpoint also when Required is not set.
	// Keys also says whose cosignatures tell the time of a checkpoint when a key
	// was revoked; empty: every trusted witness's.
	Cosigners Quorum
}

func (r *CheckpointRule) asked() bool { return r.Required || r.Cosigners.Threshold > 0 }

// Limits of the receipt format. A document beyond them is not a receipt.
const (
	MaxBytes      = 16 << 20 // bytes
	MaxDepth      = 128      // nested arrays and objects
	maxSignatures = 100      // entries of /signatures that are examined
)

// limits returns the limits in force: the format's, or lower ones of the caller's.
func (p *Policy) limits() canon.Limits {
	l := canon.Limits{Bytes: MaxBytes, Depth: MaxDepth}
	if p.Limits.Bytes > 0 {
		l.Bytes = min(l.Bytes, p.Limits.Bytes)
	}
	if p.Limits.Depth > 0 {
		l.Depth = min(l.Depth, p.Limits.Depth)
	}
	return l
}

func (p *Policy) validate(trust Trust) error {
	switch {
	case p.IntegrityOnly && (p.Issuer != "" || p.Witnesses.Threshold != 0):
		return errors.New("receipt: a policy for integrity only looks at no signatures, so it can name no issuer and no witnesses")
	case p.IntegrityOnly && (p.Checkpoint.asked() || p.Checkpoint.Cosigners.Threshold != 0):
		return errors.New("receipt: a policy for integrity only knows no keys of logs, so it can ask for no checkpoint")
	case !p.IntegrityOnly && (trust == nil || trust.Len() == 0):
		return errors.New("receipt: no trusted keys; give at least one, or ask for integrity only")
	}

	if err := p.Witnesses.validate("witnesses"); err != nil {
		return err
	}
	if err := p.Checkpoint.Cosigners.validate("cosigners"); err != nil {
		return err
	}
	return reachable(p, trust)
}
