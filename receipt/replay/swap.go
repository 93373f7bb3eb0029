package replay

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A swap is an override, together with the dependency that it replaces.
type swap struct {
	*Override
	of        record.Dependency // zero if it replaces no dependency
	operation string
	before    receipt.OptionalDigest
	after     receipt.OptionalDigest
}

// unrecorded reports whether the override replaces a value that no log records. Such an override
// cannot be matched.
func (s *swap) unrecorded() bool { return strings.HasPrefix(s.Key, "secret:") }

// delta returns the override's delta for the receipt of the replay.
func (s *swap) delta() receipt.Delta {
	return receipt.Delta{
		DeltaID: event.DeltaID(s.Key), Operation: s.operation, Path: event.DeltaPath(cmp.Or(s.of.Key, s.Key)), OverrideKey: s.Key,
		EventID: cmp.Or(s.of.EventID, s.EventID), BeforeSHA256: s.before, AfterSHA256: s.after, ArtifactID: s.ArtifactID, Reason: event.Shorten(s.Reason),
	}
}

// announcement returns the payload of the event that announces this substitution.
func (s *swap) announcement() object {
	d := s.delta()
	o := object{"override_key": text(d.OverrideKey), "kind": text(s.Kind), "delta_id": text(d.DeltaID), "operation": text(d.Operation), "path": text(d.Path)}
	for name, value := range map[string]string{"event_id": d.EventID, "artifact_id": d.ArtifactID, "reason": d.Reason} {
		if value != "" {
			o[name] = text(value)
		}
	}
	if !d.BeforeSHA256.IsZero() {
		o["before_sha256"], _ = d.BeforeSHA256.MarshalJSON() // MarshalJSON never fails for a digest
	}
	if !d.AfterSHA256.IsZero() {
		o["after_sha256"], _ = d.AfterSHA256.MarshalJSON()
	}

	// The receipt itself contains the task's times, so this event contains the new time.
	if s.Kind == kindTime && isTaskTime(s.Key) {
		o["value"] = s.value
	}
	return o
}

// put returns the payload with the new answer in a member, or with the answer's digest in the
// corresponding digest member. If member is "", the payload contains only a digest. For a secret,
// the payload contains neither the answer nor a digest.
func (s *swap) put(payload canon.Node, member string) []byte {
	value, digest, at := member, member+"_sha256", member+"_uri"
	if member == "" {
		value, digest, at = "", "sha256", "uri"
	}

	// First, all forms of the recorded answer are removed.
	o := object{value: nil, digest: nil, at: nil}
	switch {
	case s.secret():
	case value != "" && s.visible():
		o[value] = s.value
	default:
		o[digest] = text(s.after.Digest.String())
	}
	return o.over(nil, payload)
}

// visible reports whether an event may contain the value of an override.
func (s *swap) visible() bool { return s.value != nil && !s.secret() && s.Visibility != ReceiptOnly }
