// Package vocab holds the words of reports that only packages of this module say:
// codes that are found above package receipt and that no caller has to compare with,
// and the causes. They are untyped, so that each is a receipt.Code or a
// receipt.Cause where it stands. Their texts are promised like all of reports.
package vocab

// Codes that the packages stream and batch find. The registry of package receipt says
// what they mean.
const (
	CodeRepeatedID         = "repeated_id"
	CodeDisclosureUnbound  = "disclosure_unbound"
	CodeTimeOrder          = "time_order"
	CodeIdenticalCopy      = "identical_copy"
	CodeCopyNotChecked     = "copy_not_checked"
	CodeIDsNotChecked      = "ids_not_checked"
	CodeEnvelopeNotChecked = "envelope_not_checked"
	CodePartsOverlap       = "parts_overlap"
	CodePartsNotJoined     = "parts_not_joined"
	CodeAskedNotRecorded   = "asked_not_recorded"
)

// Codes that package replay finds.
const (
	CodeReplaySourceMismatch = "replay_source_mismatch"
	CodeDeltaMissing         = "delta_missing"
	CodeDeltaUnexpected      = "delta_unexpected"
	CodeDeltaMismatch        = "delta_mismatch"
	CodeOverrideHashMismatch = "override_hash_mismatch"
	CodeMaterialSubstituted  = "material_substituted"
	CodeReplayEffect         = "replay_effect"
	CodeReplayUnavailable    = "replay_unavailable"
	CodeReplayDiffers        = "replay_differs"
	CodeReplayNotChecked     = "replay_not_checked"
)

// Codes that package attest finds.
const (
	CodeAttestationInvalid     = "attestation_invalid"
	CodeAttestationMismatch    = "attestation_mismatch"
	CodeAttestationUnsupported = "attestation_unsupported"
	CodeNotAttested            = "not_attested"
)

// Codes that package receipt finds as well, or that package keys finds.
const (
	CodeSignaturesNotChecked = "signatures_not_checked"
	CodeWeakKey              = "weak_key"
	CodeInvalidKeySet        = "invalid_key_set"
	CodeCountMismatch        = "count_mismatch"
	CodeBatchNotChecked      = "batch_not_checked"
	CodeStepNotReached       = "step_not_reached"
	CodeTornTail             = "torn_tail"
	CodeTrailingData         = "trailing_data"
	CodeInvalidUTF8          = "invalid_utf8"
	CodeLoneSurrogate        = "lone_surrogate"
	CodeDepthLimit           = "depth_limit"
)

// Causes of a link that is false.
const (
	CausePredecessorMissing   = "predecessor_missing"   // no receipt of the input is the one that it names; related: the last before the gap, if any
	CausePredecessorOther     = "predecessor_other"     // the one before it, which is related, is another than it names
	CausePredecessorShared    = "predecessor_shared"    // the related receipt names the same one
	CausePredecessorLater     = "predecessor_later"     // the one that it names, which is related, comes after it in the same source
	CausePredecessorElsewhere = "predecessor_elsewhere" // the one that it names, which is related, is of another stream
	CausePredecessorNotGiven  = "predecessor_not_given" // it does not follow the one that was given, whose hash is Computed
	CauseComesEarlier         = "comes_earlier"         // the related receipt stands between it and the one that it names
	CauseNamedEarlier         = "named_earlier"         // the related receipt, which comes before it, names it
	CauseSecondFirst          = "second_first"          // it states that nothing precedes it: the related receipt does, or states the same
	CauseZeroHash             = "zero_hash"             // it names 64 zeros, which are the hash of no receipt
	CauseIDTaken              = "id_taken"              // the related receipt has the same receipt_id, but another content
)

// Causes of a link that is left open.
const (
	CauseOwnHash           = "own_hash"           // the receipt does not fit its own hash, so its place shows nothing
	CauseUnreadable        = "unreadable"         // the predecessor may be something that is not readable; related: its place, if known
	CauseSelection         = "selection"          // the input is a selection, and does not hold the predecessor
	CausePredecessorAbsent = "predecessor_absent" // the input begins after the predecessor
)
