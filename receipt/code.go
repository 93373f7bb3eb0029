package receipt

import "github.com/receiptkit/receiptkit/receipt/internal/vocab"

// A Code names one cause, for programs. Codes are never renamed; new ones may
// be added. [Codes] lists them all with their meaning, and the text of each is as
// good as a constant: f.Code == "key_expired". Those that programs act upon are
// constants here.
type Code string

// Codes of the step parse: the bytes are not an I-JSON text, or one that the format
// does not allow. The first nine are package canon's.
const (
	CodeSyntax          Code = "syntax"
	codeDuplicateName   Code = "duplicate_name"
	codeInvalidUTF8     Code = vocab.CodeInvalidUTF8
	codeLoneSurrogate   Code = vocab.CodeLoneSurrogate
	codeNumberRange     Code = "number_range"
	codeDepthLimit      Code = vocab.CodeDepthLimit
	CodeSizeLimit       Code = "size_limit"
	codeTrailingData    Code = vocab.CodeTrailingData
	codeEmptyInput      Code = "empty_input"
	CodeNumberPrecision Code = "number_precision"
	CodeNotObject       Code = "not_object"
)

// A code of the step parse for archives.
const codeNonDeterministicCBOR Code = "non_deterministic_cbor"

// Codes of the step schema.
const (
	CodeNotAReceipt       Code = "not_a_receipt"
	codeUnsupportedSchema Code = "unsupported_schema"
	CodeSchemaInvalid     Code = "schema_invalid"
)

// Codes of the steps hash, link and batch.
const (
	codeMalformedHash  Code = "malformed_hash"
	CodeHashMismatch   Code = "hash_mismatch"
	CodeChainBreak     Code = "chain_break"
	CodeStreamMismatch Code = "stream_mismatch"

	codeMaterialMismatch Code = "material_mismatch"
	codeMaterialNotFound Code = "material_not_found"

	CodeProofInvalid       Code = "proof_invalid"
	CodeCheckpointInvalid  Code = "checkpoint_invalid"
	codeCheckpointRequired Code = "checkpoint_required"
	CodeMerkleRootMismatch Code = "merkle_root_mismatch"
	codeNotInBatch         Code = "not_in_batch"
)

// Codes of several receipts, which package stream finds.
const (
	CodeChainFork     Code = "chain_fork"
	CodeDuplicateID   Code = "duplicate_id"
	CodeTruncated     Code = "truncated"
	CodeHeadMismatch  Code = "head_mismatch"
	codeCountMismatch Code = vocab.CodeCountMismatch
	codeTornTail      Code = vocab.CodeTornTail
)

// Codes of the step signatures.
const (
	CodeUnsigned             Code = "unsigned"
	CodeUnknownKey           Code = "unknown_key"
	CodeUnsupportedAlgorithm Code = "unsupported_algorithm"
	CodeMalformedSignature   Code = "malformed_signature"
	CodeAlgorithmMismatch    Code = "algorithm_mismatch"
	CodeSignatureInvalid     Code = "signature_invalid"
	codeIssuerUnbound        Code = "issuer_unbound"
	CodeIssuerMismatch       Code = "issuer_mismatch"
	codeRoleMismatch         Code = "role_mismatch"
	codeNamedKeyMissing      Code = "named_key_missing"
	codeThresholdNotMet      Code = "threshold_not_met"
	codeKeyNotYetValid       Code = "key_not_yet_valid"
	codeKeyExpired           Code = "key_expired"
	CodeKeyRevoked           Code = "key_revoked"
	codeSignatureLimit       Code = "signature_limit"
	codeWeakKey              Code = vocab.CodeWeakKey
	codeInvalidKeySet        Code = vocab.CodeInvalidKeySet
)

// Codes of the step redactions.
const (
	codeDisclosureMismatch Code = "disclosure_mismatch"
	codeDisclosureUnknown  Code = "disclosure_unknown"
	codeDisclosureUnbound  Code = vocab.CodeDisclosureUnbound
	codeProtectedField     Code = "protected_field"
)

// Codes of what was not checked.
const (
	CodeLinkNotChecked       Code = "link_not_checked"
	codeBatchNotChecked      Code = vocab.CodeBatchNotChecked
	codeRedactionsNotChecked Code = "redactions_not_checked"
	codeSignaturesNotChecked Code = "signatures_not_checked"
	codeStepNotReached       Code = vocab.CodeStepNotReached
	codeUnauthenticated      Code = "unauthenticated_members"
	codeUnknownCosigners     Code = "unknown_cosigners"
	CodeTailNotChecked       Code = "tail_not_checked"
	CodeEvidenceUnused       Code = "evidence_unused"
)

// Codes of warnings: none of them changes a verdict.
const (
	codeCostSum           Code = "cost_sum"
	codeFailureState      Code = "failure_state"
	codeCountsDiffer      Code = "counts_differ"
	codeUnavailableReason Code = "unavailable_reason"
	codeRepeatedField     Code = "repeated_field"
	codeIssuedLater       Code = "issued_later"
	codeCircularRoot      Code = "circular_root"
)

// An Outcome is what a code does to the verdict.
type Outcome string

const (
	OutcomeRefutes     Outcome = "refuted"     // something is false or malformed
	OutcomeUndecides   Outcome = "undecided"   // evidence is missing
	OutcomeNotCounted  Outcome = "not counted" // that signature does not count; refutes when the policy is thereby unmet
	OutcomeInforms     Outcome = "informs"     // listed among what was not checked; undecided under a strict policy
	OutcomeWarns       Outcome = "warns"       // a warning, never a verdict
	OutcomeRefusesFile Outcome = "refuses"     // a key file is not used at all
)

// A CodeInfo explains one code to a person.
type CodeInfo struct {
	Code    Code
	Where   string // a step's name, "warning", "not checked" or "key set"
	Outcome Outcome
	Meaning string // what was found, one or two sentences
	Next    string // what to do about it; how is for who shows it
}

// Lookup returns the explanation of one code.
func Lookup(c Code) (CodeInfo, bool) {
	for _, info := range Codes() {
		if info.Code == c {
			return info, true
		}
	}
	return CodeInfo{}, false
}
