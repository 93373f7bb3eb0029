package receipt

// A Code names the cause of a finding, for programs. Codes are never renamed, and new ones may be
// added. [Codes] returns the meaning of each.
type Code string

// Codes of the step parse: the bytes are not an I-JSON text, or the format does not allow the
// text. Package canon finds the first nine.
const (
	CodeSyntax               Code = "syntax"
	CodeDuplicateName        Code = "duplicate_name"
	CodeInvalidUTF8          Code = "invalid_utf8"
	CodeLoneSurrogate        Code = "lone_surrogate"
	CodeNumberRange          Code = "number_range"
	CodeDepthLimit           Code = "depth_limit"
	CodeSizeLimit            Code = "size_limit"
	CodeTrailingData         Code = "trailing_data"
	CodeEmptyInput           Code = "empty_input"
	CodeNumberPrecision      Code = "number_precision"
	CodeNotObject            Code = "not_object"
	CodeNonDeterministicCBOR Code = "non_deterministic_cbor"
	CodeTornTail             Code = "torn_tail"
)

// Codes of the step schema.
const (
	CodeNotAReceipt       Code = "not_a_receipt"
	CodeUnsupportedSchema Code = "unsupported_schema"
	CodeSchemaInvalid     Code = "schema_invalid"
)

// Codes of the step hash.
const (
	CodeMalformedHash    Code = "malformed_hash"
	CodeHashMismatch     Code = "hash_mismatch"
	CodeMaterialMismatch Code = "material_mismatch"
	CodeMaterialNotFound Code = "material_not_found"
)

// Codes of the step link. Package stream finds all of them except the first two.
const (
	CodeChainBreak     Code = "chain_break"
	CodeStreamMismatch Code = "stream_mismatch"
	CodeChainFork      Code = "chain_fork"
	CodeDuplicateID    Code = "duplicate_id"
	CodeTruncated      Code = "truncated"
	CodeHeadMismatch   Code = "head_mismatch"
	CodeCountMismatch  Code = "count_mismatch"
)

// Codes of the step batch.
const (
	CodeProofInvalid       Code = "proof_invalid"
	CodeCheckpointInvalid  Code = "checkpoint_invalid"
	CodeCheckpointRequired Code = "checkpoint_required"
	CodeMerkleRootMismatch Code = "merkle_root_mismatch"
	CodeNotInBatch         Code = "not_in_batch"
)

// Codes of the step signatures, of attestations, and of key files.
const (
	CodeUnsigned               Code = "unsigned"
	CodeUnknownKey             Code = "unknown_key"
	CodeUnsupportedAlgorithm   Code = "unsupported_algorithm"
	CodeMalformedSignature     Code = "malformed_signature"
	CodeAlgorithmMismatch      Code = "algorithm_mismatch"
	CodeSignatureInvalid       Code = "signature_invalid"
	CodeIssuerUnbound          Code = "issuer_unbound"
	CodeIssuerMismatch         Code = "issuer_mismatch"
	CodeRoleMismatch           Code = "role_mismatch"
	CodeNamedKeyMissing        Code = "named_key_missing"
	CodeThresholdNotMet        Code = "threshold_not_met"
	CodeKeyNotYetValid         Code = "key_not_yet_valid"
	CodeKeyExpired             Code = "key_expired"
	CodeKeyRevoked             Code = "key_revoked"
	CodeSignatureLimit         Code = "signature_limit"
	CodeAttestationInvalid     Code = "attestation_invalid"
	CodeAttestationMismatch    Code = "attestation_mismatch"
	CodeAttestationUnsupported Code = "attestation_unsupported"
	CodeNotAttested            Code = "not_attested"
	CodeWeakKey                Code = "weak_key"
	CodeInvalidKeySet          Code = "invalid_key_set"
)

// Codes of the step redactions.
const (
	CodeDisclosureMismatch Code = "disclosure_mismatch"
	CodeDisclosureUnknown  Code = "disclosure_unknown"
	CodeDisclosureUnbound  Code = "disclosure_unbound"
	CodeProtectedField     Code = "protected_field"
)

// Codes of the receipt of a replay, which package replay finds.
const (
	CodeReplaySourceMismatch Code = "replay_source_mismatch"
	CodeDeltaMissing         Code = "delta_missing"
	CodeDeltaUnexpected      Code = "delta_unexpected"
	CodeDeltaMismatch        Code = "delta_mismatch"
	CodeOverrideHashMismatch Code = "override_hash_mismatch"
	CodeMaterialSubstituted  Code = "material_substituted"
	CodeReplayEffect         Code = "replay_effect"
	CodeReplayUnavailable    Code = "replay_unavailable"
	CodeReplayDiffers        Code = "replay_differs"
)

// Codes of what was not checked.
const (
	CodeLinkNotChecked       Code = "link_not_checked"
	CodeBatchNotChecked      Code = "batch_not_checked"
	CodeRedactionsNotChecked Code = "redactions_not_checked"
	CodeSignaturesNotChecked Code = "signatures_not_checked"
	CodeStepNotReached       Code = "step_not_reached"
	CodeTailNotChecked       Code = "tail_not_checked"
	CodeIDsNotChecked        Code = "ids_not_checked"
	CodeEvidenceUnused       Code = "evidence_unused"
	CodePartsOverlap         Code = "parts_overlap"
	CodePartsNotJoined       Code = "parts_not_joined"
	CodeCopyNotChecked       Code = "copy_not_checked"
	CodeAskedNotRecorded     Code = "asked_not_recorded"
	CodeEnvelopeNotChecked   Code = "envelope_not_checked"
	CodeReplayNotChecked     Code = "replay_not_checked"
	CodeUnauthenticated      Code = "unauthenticated_members"
	CodeUnknownCosigners     Code = "unknown_cosigners"
)

// Codes of warnings, which never change a verdict.
const (
	CodeTimeOrder         Code = "time_order"
	CodeCostSum           Code = "cost_sum"
	CodeFailureState      Code = "failure_state"
	CodeCountsDiffer      Code = "counts_differ"
	CodeUnavailableReason Code = "unavailable_reason"
	CodeRepeatedField     Code = "repeated_field"
	CodeRepeatedID        Code = "repeated_id"
	CodeIdenticalCopy     Code = "identical_copy"
	CodeIssuedLater       Code = "issued_later"
	CodeCircularRoot      Code = "circular_root"
)

// An Outcome is the effect of a code on the verdict.
type Outcome string

const (
	OutcomeRefutes     Outcome = "refuted"     // something is invalid or malformed
	OutcomeUndecides   Outcome = "undecided"   // evidence is missing
	OutcomeNotCounted  Outcome = "not counted" // the signature does not count; refutes if the policy is therefore not met
	OutcomeInforms     Outcome = "informs"     // listed as not checked; undecided under a strict policy
	OutcomeWarns       Outcome = "warns"       // a warning, never a verdict
	OutcomeRefusesFile Outcome = "refuses"     // a key file is not used
)

// A CodeInfo explains one code to people.
type CodeInfo struct {
	Code    Code
	Where   string // a step's name, "warning", "not checked" or "key set"
	Outcome Outcome
	Meaning string // what was found, in one or two sentences
	Next    string // what to do; callers add how to do it
}

// Lookup returns the explanation of a code and reports whether the code exists.
func Lookup(c Code) (CodeInfo, bool) {
	for _, info := range Codes() {
		if info.Code == c {
			return info, true
		}
	}
	return CodeInfo{}, false
}

// Codes returns all codes with their meanings, step by step. `receipt explain` and
// docs/codes.md are generated from it.
func Codes() []CodeInfo {
	const resaved = "The file was probably re-saved or pasted. Ask for it as an attachment."
	return []CodeInfo{
		{CodeSyntax, "parse", OutcomeRefutes, "The bytes are not JSON (RFC 8259).", resaved},
		{CodeDuplicateName, "parse", OutcomeRefutes, "An object has two members of the same name (compared after unescaping), so two readers could see two different receipts.", "Ask the issuer for a receipt without duplicate names; no reader can tell which value was meant."},
		{CodeInvalidUTF8, "parse", OutcomeRefutes, "The bytes are not UTF-8, which JSON demands (RFC 8259 section 8.1).", resaved},
		{CodeLoneSurrogate, "parse", OutcomeRefutes, `A string has half of a surrogate pair such as "\ud800", which no Unicode text can hold (RFC 7493 section 2.1).`, "Ask the issuer: its JSON writer cut a character in two."},
		{CodeNumberRange, "parse", OutcomeRefutes, "A number is beyond the range of an IEEE-754 double, so it has no canonical form.", "Ask the issuer; such a number cannot be part of a receipt."},
		{CodeDepthLimit, "parse", OutcomeRefutes, "Arrays and objects are nested deeper than 128 levels, the limit of the receipt format. When a lower limit of the caller was hit instead, the verdict is undecided.", "Raise the limit if it is yours."},
		{CodeSizeLimit, "parse", OutcomeRefutes, "The document is larger than 16 MiB, the limit of the receipt format. When a lower limit of the caller was hit instead, the verdict is undecided.", "Raise the limit if it is yours; large material belongs into artifacts that the receipt names by hash."},
		{CodeTrailingData, "parse", OutcomeRefutes, "Bytes follow the end of the JSON value.", "If they are a second receipt, split the file: one document per file."},
		{CodeEmptyInput, "parse", OutcomeRefutes, "The input holds no JSON value, only white space or nothing at all.", "Check the path, or the command that should have written to the pipe."},
		{CodeNumberPrecision, "parse", OutcomeRefutes, "A number is integral and outside ±(2^53−1), however it is spelled. Its double has neighbours with the same canonical text, so the hash could not tell them apart (RFC 7493 section 2.2). The same holds for a value that is disclosed.", "Issuers write such values as strings."},
		{CodeNotObject, "parse", OutcomeRefutes, "The JSON value is not an object. A receipt is one.", "Check that the file is a receipt."},
		{CodeNonDeterministicCBOR, "parse", OutcomeRefutes, "An archive's item is not the one deterministic CBOR (RFC 8949 section 4.2.1) of its receipt: another order, length, number form or type.", "Ask for the JSON, or for an archive in deterministic CBOR."},
		{CodeTornTail, "parse", OutcomeUndecides, "The input ends in the middle of a receipt: it is still being written, its writer was interrupted, or the copy is cut off.", "Copy the file again when it is whole. What comes before the torn end is judged."},

		{CodeNotAReceipt, "schema", OutcomeRefutes, "The document is JSON, but nothing marks it as a receipt: neither schema, nor receipt_id, nor chain.", "Check that the file is a receipt."},
		{CodeUnsupportedSchema, "schema", OutcomeUndecides, "The schema member names another version of the receipt format than receipt-2026-04-25.", "Verify it with a tool that knows that version."},
		{CodeSchemaInvalid, "schema", OutcomeRefutes, "A member is missing, unknown, of the wrong type, or has a value that the format does not allow.", "Ask the issuer; editing the file would break its hash."},

		{CodeMalformedHash, "hash", OutcomeRefutes, `A stated hash is not "sha256:" and 64 lower-case hexadecimal digits.`, "Ask the issuer for an undamaged copy."},
		{CodeHashMismatch, "hash", OutcomeRefutes, "The SHA-256 of the canonical receipt, without /chain/receipt_hash and /signatures, is not the hash that the receipt states. The content is not what that hash was computed over.", "Compare with another copy, and look at the bytes that are hashed."},
		{CodeMaterialMismatch, "hash", OutcomeRefutes, "Material is not what the receipt says: the bytes in bytes_base64 or a file that was given have another SHA-256 than stated, or bytes_base64 is not strict padded base64.", "Compare with the issuer's copy of that material."},
		{CodeMaterialNotFound, "hash", OutcomeUndecides, "Files were given to check, but some that the receipt names by sha256 are not among them. The receipt's own hash fits.", "Add the missing files, or verify without files."},
		{CodeChainBreak, "link", OutcomeRefutes, "previous_receipt_hash does not name the predecessor. A first receipt states null; 64 zeros are the hash of nothing.", "Look for the missing receipt, or ask the issuer."},
		{CodeStreamMismatch, "link", OutcomeRefusesFile, "A draft was to follow a receipt of another stream. A stream is one issuer.id, tenant_id and workspace_ref.", "Give the last receipt of the same stream as the predecessor."},
		{CodeChainFork, "link", OutcomeRefutes, "Two receipts of one stream name the same predecessor, or both are the first: the stream has two histories.", "Ask the issuer which is right, and why there are two."},
		{CodeDuplicateID, "link", OutcomeRefutes, "Two receipts of one issuer have the same receipt_id and different contents.", "Ask the issuer which is right."},
		{CodeTruncated, "link", OutcomeRefutes, "Receipts are missing at the end of a stream: what was expected as its head is not there.", "Ask for the rest of the stream."},
		{CodeHeadMismatch, "link", OutcomeRefutes, "The stream ends in another receipt than expected.", "Compare with the head of an earlier report; ask the issuer for the receipts between."},
		{CodeCountMismatch, "link", OutcomeRefutes, "The stream has another number of receipts than expected.", "Look for missing or added receipts."},

		{CodeProofInvalid, "batch", OutcomeRefutes, "An inclusion proof is malformed, or none fits the receipt: the path from its hash leads to another root than the checkpoint's, has a wrong length, or its index is not below the size of the tree.", "The proof is damaged, of another receipt, or of another tree. Ask the log for the proof of this receipt."},
		{CodeCheckpointInvalid, "batch", OutcomeRefutes, "A checkpoint is malformed, carries a false signature of a trusted log or witness key, or contradicts another one that the same log signed.", "Ask the log for an undamaged copy."},
		{CodeCheckpointRequired, "batch", OutcomeUndecides, "A checkpoint of a trusted log that includes the receipt is asked for, by the policy or because one was given over all receipts, and this one is in none.", "Ask the log for an inclusion proof."},
		{CodeMerkleRootMismatch, "batch", OutcomeRefutes, "The receipt and its batch contradict each other: the batch lists other content or another hash for it, has another root than the receipt states, or does not list it.", "Ask the issuer for the batch that the receipt was sealed with."},
		{CodeNotInBatch, "batch", OutcomeUndecides, "A batch was given, but the receipt neither is listed in it nor states its root.", "Give the batch of this receipt, or none."},

		{CodeUnsigned, "signatures", OutcomeUndecides, "No signature of an issuer is there. The content fits its hash, but anyone could have written both.", "Ask the issuer for the signed receipt."},
		{CodeUnknownKey, "signatures", OutcomeUndecides, "The key that a signature names, or the key of a checkpoint's log, is not among the trusted keys, so the signature could not be checked.", "Get that key from the issuer, not from the sender of the receipt, and add it to the trusted keys."},
		{CodeUnsupportedAlgorithm, "signatures", OutcomeUndecides, "A signature names an algorithm outside the fixed list (ed25519, EdDSA, ES256, ES384, ES512, PS256, PS384, PS512, RS256, RS384, RS512; exact spelling).", "Ask the issuer for a signature of that list."},
		{CodeMalformedSignature, "signatures", OutcomeRefutes, `A signature value has not the form of its algorithm: "base64:" and the padded base64 of 64 bytes for ed25519, "jws:" and a detached compact JWS for the others, in their one strict encoding.`, "Ask for an undamaged copy."},
		{CodeAlgorithmMismatch, "signatures", OutcomeRefutes, "A signature names another algorithm than the trusted key is for. The key decides, never the receipt.", "Ask the issuer, or correct the key file if its alg is wrong."},
		{CodeSignatureInvalid, "signatures", OutcomeRefutes, "A signature is not the named key's signature over the stated hash.", "The signature or the hash was changed, or another key signed. Ask the issuer."},
		{CodeIssuerUnbound, "signatures", OutcomeUndecides, "The signing key is trusted, but the key file does not say for which issuer it may speak.", "Name the issuer to verify for, or add \"issuers\" to the key in the key file."},
		{CodeIssuerMismatch, "signatures", OutcomeNotCounted, "The receipt's issuer.id is not one that the signing key may speak for, or not the issuer that was asked for.", "If the key does belong to that issuer, add the id to \"issuers\" in the key file."},
		{CodeRoleMismatch, "signatures", OutcomeNotCounted, "The signing key does not have the role that its signature would need: \"issuer\", or \"witness\" for a countersignature.", "Correct \"roles\" in the key file if they are wrong."},
		{CodeNamedKeyMissing, "signatures", OutcomeUndecides, "The receipt names the issuer's key in issuer.public_key_id, inside the hash, but no valid signature by that key is there.", "Ask the issuer for a receipt signed by the key it names."},
		{CodeThresholdNotMet, "signatures", OutcomeUndecides, "Fewer witnesses signed the receipt, or cosigned its checkpoint, than the policy demands. Distinct key material is counted, and issuer keys never count.", "Collect the missing countersignatures."},
		{CodeKeyNotYetValid, "signatures", OutcomeNotCounted, "The key's validity begins (nbf) after the time at which the receipt was issued, or after the time that the policy names.", "Check the receipt's issued_at and the key file's nbf."},
		{CodeKeyExpired, "signatures", OutcomeNotCounted, "The key's validity had ended (exp) at the time at which the receipt was issued, or at the time that the policy names.", "Check the receipt's issued_at and the key file's exp."},
		{CodeKeyRevoked, "signatures", OutcomeNotCounted, "The key was revoked. Unless it was superseded later than the receipt was issued, its signatures are refused whatever the receipt's own clock says.", "Ask the issuer for the receipt under a valid key."},
		{CodeSignatureLimit, "signatures", OutcomeUndecides, "The receipt has more than 100 signatures. Only the first 100 were examined.", "Remove signatures that nobody asked for; they lie outside the hash."},
		{CodeAttestationInvalid, "signatures", OutcomeRefutes, "An attestation is malformed: its bundle, its envelope or its statement is not in the one form that the format has, or holds more than that.", "Ask for an undamaged copy."},
		{CodeAttestationMismatch, "signatures", OutcomeRefutes, "The subjects of an attestation are not those that the receipt inside gives.", "Ask whoever attested the receipt for a new attestation."},
		{CodeAttestationUnsupported, "signatures", OutcomeUndecides, "An attestation is of another kind than is judged here: another version of the bundle, another type of payload or predicate, or one that rests on a certificate, a log or a timestamp.", "Verify it with a tool for that kind, such as cosign."},
		{CodeNotAttested, "signatures", OutcomeUndecides, "An attestation was asked for, of a commit or a digest, and the receipt comes without one or with one for something else.", "Ask whoever made the receipt for an attestation of what is asked for."},
		{CodeWeakKey, "key set", OutcomeRefusesFile, "A key gives no security: a low-order or non-canonical Ed25519 point, an RSA modulus below 2,048 or above 8,192 bits, an RSA exponent of 3 or less or even, a point off its curve.", "Make a new key."},
		{CodeInvalidKeySet, "key set", OutcomeRefusesFile, "The file is not a JWK Set of public signing keys as this tool reads it: malformed, a duplicate key id, a private or symmetric key, a contradictory use.", "Mend the file as the message says."},

		{CodeDisclosureMismatch, "redactions", OutcomeRefutes, "A disclosed value, its salt or its field is not the one that the receipt commits to: SHA-256 over field, salt and value differs from the proof_hash of its entry in redactions. Or the values contradict each other or the receipt: two for one field, another than the value disclosed for an ancestor holds there, or one in whose place the receipt still holds a value.", "Ask whoever disclosed it for the value as it was withheld."},
		{CodeDisclosureUnknown, "redactions", OutcomeRefutes, "A disclosed field has no entry with a proof_hash in the redactions of the receipt.", "Check that the disclosure belongs to this receipt."},
		{CodeDisclosureUnbound, "redactions", OutcomeUndecides, "Disclosed values belong to no receipt at hand: they are bound to the hash of another, or name no receipt and fit no commitment.", "Give the disclosures of these receipts, or leave them out."},
		{CodeProtectedField, "redact", OutcomeRefusesFile, "A rule would withhold a member that every receipt needs as it is (schema, receipt_id, subject, issuer, issued_at, identifiers, chain, lifecycle.final_state), or what holds one. As a warning of a receipt: its redactions list such a member as withheld.", "Keep secrets out of that member, or change the rule."},

		{CodeReplaySourceMismatch, "hash", OutcomeRefutes, "The receipt is not that of a replay of the log that was given: it is about something else, names another source, or another digest of its log.", "Give the log that the receipt names, whole and unchanged, and the task that was replayed."},
		{CodeDeltaMissing, "hash", OutcomeRefutes, "The request replaces something, and the receipt of the replay lists no delta for it.", "Give the request that was replayed; if it is the one, ask the issuer why the substitution is not told."},
		{CodeDeltaUnexpected, "hash", OutcomeRefutes, "The receipt of a replay lists a delta that the request did not ask for.", "Give the request that was replayed; if it is the one, something else was swapped."},
		{CodeDeltaMismatch, "hash", OutcomeRefutes, "A delta of a replay's receipt is another than the log and the request give: what was there, what took its place, where, or why.", "Compare with the deltas that the log and the request give."},
		{CodeOverrideHashMismatch, "hash", OutcomeRefutes, "An override states another SHA-256 than its value has. Of a JSON value it is that of the canonical form (RFC 8785), of an artifact that of its bytes.", "State the digest that was computed, or none."},
		{CodeMaterialSubstituted, "hash", OutcomeRefutes, "A material of a replay is not the recorded one, and no override of the request replaces it.", "Something was refreshed or swapped without being named. Ask the issuer."},
		{CodeReplayEffect, "hash", OutcomeRefutes, "The receipt of a replay claims an effect, an approval, a cost or a consumption. What is told again was done by the source.", "Ask the issuer what the replay did anew, and why."},
		{CodeReplayUnavailable, "hash", OutcomeUndecides, "Something that the replay needs is missing, or the log and the request do not show whether a statement of its receipt is true, for example an artifact that a module created.", "Find what is missing, or give the receipt of the source, which may decide it."},
		{CodeReplayDiffers, "hash", OutcomeRefutes, "Two replays of one log and one request are not the same, or a replay's receipt has another value than the log and the request give: a time, the end, an identifier, a tier, a budget, a model.", "Look at the place that is named: the clock of the machine, or something that is not in the log, may have been used."},

		{CodeLinkNotChecked, "not checked", OutcomeInforms, "Whether receipts precede or follow this one in its stream.", "Verify the whole stream."},
		{CodeBatchNotChecked, "not checked", OutcomeInforms, "The receipt states a merkle_root, but the batch it is the root of was not given.", "Ask the issuer for the batch."},
		{CodeRedactionsNotChecked, "not checked", OutcomeInforms, "The receipt lists withheld values, but no disclosures of them were given.", "Ask the issuer to disclose the fields that you may see."},
		{CodeSignaturesNotChecked, "not checked", OutcomeInforms, "Signatures were not looked at, because only integrity was asked for. Anyone can write a receipt that fits its own hash.", "Verify with the issuer's keys."},
		{CodeStepNotReached, "not checked", OutcomeInforms, "An earlier step failed in a way that leaves this one without anything to check.", "Mend the earlier failure first."},
		{CodeTailNotChecked, "not checked", OutcomeInforms, "Whether receipts follow the last one of a stream. A chain that was cut off at its end cannot be told from a whole one by itself.", "Give what the stream must end in: a hash, an earlier report, or a checkpoint."},
		{CodeIDsNotChecked, "not checked", OutcomeInforms, "Whether a receipt_id is used for two receipts, where the input is too large to be compared in memory, or where reports of parts were merged.", "Verify the parts in one run."},
		{CodeEvidenceUnused, "not checked", OutcomeUndecides, "Evidence was given that has to do with no receipt of the input: a proof or a batch of others, disclosures of another receipt, a predecessor in another stream, files that no receipt names. It shows nothing of what it was given for.", "Give the evidence that belongs to these receipts, or leave it out."},
		{CodePartsOverlap, "not checked", OutcomeUndecides, "Two of the merged parts hold the same receipt, and their summaries do not tell enough to count it once. What is in both was counted twice, and whether receipts are missing between parts cannot be told.", "Verify the parts together, or cut them without overlap and merge the reports of these."},
		{CodePartsNotJoined, "not checked", OutcomeUndecides, "Merged parts of a stream do not join, and their reports do not tell whether receipts are missing between them, are in both, or fork: they list no receipts, or only some of them are selections. Or nothing tells whether two parts use one receipt_id.", "Verify the parts together, or verify each again and merge the new reports."},
		{CodeCopyNotChecked, "not checked", OutcomeUndecides, "A receipt does not follow the one before it, and may be a copy of an earlier one: the input has more receipts than are remembered.", "Verify the input cut into several files, which are compared on disk."},
		{CodeAskedNotRecorded, "not checked", OutcomeInforms, "Whether merged parts were verified with the same policy: the report of a part, by an older version, does not record it.", "Verify the part again."},
		{CodeEnvelopeNotChecked, "not checked", OutcomeInforms, "The receipt came in an API envelope, whose other members nothing protects.", "Rely on the receipt, not on the envelope."},
		{CodeReplayNotChecked, "not checked", OutcomeInforms, "A member of a replay's receipt that the log and the request do not determine, such as receipt_id, or that states no more than they do in another form.", "Ask the issuer, if the member matters."},
		{CodeUnauthenticated, "not checked", OutcomeInforms, "key_id, algorithm and signed_at of a signature lie outside the hash. Nobody vouches for them, except inside the protected header of a JWS.", "Do not rely on signed_at; issued_at is inside the hash."},
		{CodeUnknownCosigners, "not checked", OutcomeInforms, "A checkpoint carries signature lines of keys that are not trusted here, or of algorithms that this tool does not know, such as ML-DSA.", "Nothing, unless the policy wants those witnesses: then add their keys."},

		{CodeTimeOrder, "warning", OutcomeWarns, "The times contradict each other: created, started, completed and issued should follow in this order.", "Ask the issuer; its clock may be wrong."},
		{CodeCostSum, "warning", OutcomeWarns, "The amounts of cost.provider_breakdown do not add up to cost.total (difference above 0.000001).", "Ask the issuer which is right."},
		{CodeFailureState, "warning", OutcomeWarns, "lifecycle.failure and final_state disagree: a failure without FAILED, or FAILED without a failure.", "Ask the issuer which is right."},
		{CodeCountsDiffer, "warning", OutcomeWarns, "The budget counts fewer tool calls than side_effects.tool_calls lists as made, or more than it lists at all.", "Calls without side effects may be counted but not listed; ask the issuer."},
		{CodeUnavailableReason, "warning", OutcomeWarns, "replay_input.determinism and unavailable_reason disagree: a reason without \"unavailable\", or the other way round.", "Ask the issuer which is right."},
		{CodeRepeatedField, "warning", OutcomeWarns, "Two entries of redactions commit to two values of one field. Each may be what was withheld, or a part of it at first and then the rest.", "Ask for both values to be disclosed to the same reader; two that differ are refuted."},
		{CodeRepeatedID, "warning", OutcomeWarns, "Two entries of one list have the same id.", "Ask the issuer which one is meant where the id is used."},
		{CodeIdenticalCopy, "warning", OutcomeWarns, "The input holds the same receipt more than once; it is counted once.", "Nothing is wrong with it."},
		{CodeIssuedLater, "warning", OutcomeWarns, "issued_at is later than the time of the verification, or than the time that the policy names.", "Ask the issuer; its clock may be wrong."},
		{CodeCircularRoot, "warning", OutcomeWarns, "chain.merkle_root equals chain.receipt_hash. The root lies inside the hashed bytes, so no tree over the receipt, of one leaf or of many, can have that root.", "Ask the issuer to leave merkle_root out, or to seal the receipt in a batch."},
	}
}
