package receipt

// A Code identifies the cause of a finding, for use by programs. Codes are never renamed, but new
// codes may be added. [Codes] returns the meaning of each code.
type Code string

// These are the codes of the parse step: the bytes are not valid I-JSON, or the format does not
// allow the JSON text. The first nine codes are also defined in package canon. The last three codes
// are about attestations. If one of these three codes is reported, the receipt in the attestation
// is not verified.
const (
	CodeSyntax                 Code = "syntax"
	CodeDuplicateName          Code = "duplicate_name"
	CodeInvalidUTF8            Code = "invalid_utf8"
	CodeLoneSurrogate          Code = "lone_surrogate"
	CodeNumberRange            Code = "number_range"
	CodeDepthLimit             Code = "depth_limit"
	CodeSizeLimit              Code = "size_limit"
	CodeTrailingData           Code = "trailing_data"
	CodeEmptyInput             Code = "empty_input"
	CodeNumberPrecision        Code = "number_precision"
	CodeNotObject              Code = "not_object"
	CodeNonDeterministicCBOR   Code = "non_deterministic_cbor"
	CodeTornTail               Code = "torn_tail"
	CodeForeignReceipt         Code = "foreign_receipt"
	CodeAttestationInvalid     Code = "attestation_invalid"
	CodeAttestationMismatch    Code = "attestation_mismatch"
	CodeAttestationUnsupported Code = "attestation_unsupported"
)

// These are the codes of the schema step.
const (
	CodeNotAReceipt       Code = "not_a_receipt"
	CodeUnsupportedSchema Code = "unsupported_schema"
	CodeSchemaInvalid     Code = "schema_invalid"
)

// These are the codes of the hash step.
const (
	CodeMalformedHash    Code = "malformed_hash"
	CodeHashMismatch     Code = "hash_mismatch"
	CodeMaterialMismatch Code = "material_mismatch"
	CodeMaterialNotFound Code = "material_not_found"
)

// These are the codes of the link step. All of them except the first two are reported by package
// stream.
const (
	CodeChainBreak     Code = "chain_break"
	CodeStreamMismatch Code = "stream_mismatch"
	CodeChainFork      Code = "chain_fork"
	CodeDuplicateID    Code = "duplicate_id"
	CodeTruncated      Code = "truncated"
	CodeHeadMismatch   Code = "head_mismatch"
	CodeCountMismatch  Code = "count_mismatch"
)

// These are the codes of the batch step.
const (
	CodeProofInvalid       Code = "proof_invalid"
	CodeCheckpointInvalid  Code = "checkpoint_invalid"
	CodeCheckpointRequired Code = "checkpoint_required"
	CodeMerkleRootMismatch Code = "merkle_root_mismatch"
	CodeNotInBatch         Code = "not_in_batch"
	CodeTimestampInvalid   Code = "timestamp_invalid"
	CodeTimeSelfAsserted   Code = "time_self_asserted"
)

// These are the codes of the signatures step and of key files.
const (
	CodeUnsigned             Code = "unsigned"
	CodeUnknownKey           Code = "unknown_key"
	CodeTrustUnavailable     Code = "trust_unavailable"
	CodeUnsupportedAlgorithm Code = "unsupported_algorithm"
	CodeMalformedSignature   Code = "malformed_signature"
	CodeAlgorithmMismatch    Code = "algorithm_mismatch"
	CodeSignatureInvalid     Code = "signature_invalid"
	CodeIssuerUnbound        Code = "issuer_unbound"
	CodeIssuerMismatch       Code = "issuer_mismatch"
	CodeRoleMismatch         Code = "role_mismatch"
	CodeNamedKeyMissing      Code = "named_key_missing"
	CodeThresholdNotMet      Code = "threshold_not_met"
	CodeKeyNotYetValid       Code = "key_not_yet_valid"
	CodeKeyExpired           Code = "key_expired"
	CodeKeyRevoked           Code = "key_revoked"
	CodeSignatureLimit       Code = "signature_limit"
	CodeNotAttested          Code = "not_attested"
	CodeWeakKey              Code = "weak_key"
	CodeInvalidKeySet        Code = "invalid_key_set"
)

// These are the codes of the redactions step.
const (
	CodeDisclosureMismatch Code = "disclosure_mismatch"
	CodeDisclosureUnknown  Code = "disclosure_unknown"
	CodeDisclosureUnbound  Code = "disclosure_unbound"
	CodeProtectedField     Code = "protected_field"
)

// These are the codes that package replay reports for the receipt of a replay.
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

// These are the codes for checks that were omitted.
const (
	CodeLinkNotChecked       Code = "link_not_checked"
	CodeBatchNotChecked      Code = "batch_not_checked"
	CodeRedactionsNotChecked Code = "redactions_not_checked"
	CodeSignaturesNotChecked Code = "signatures_not_checked"
	CodeStepNotReached       Code = "step_not_reached"
	CodeTailNotChecked       Code = "tail_not_checked"
	CodeIDsNotChecked        Code = "ids_not_checked"
	CodeValidityNotChecked   Code = "validity_not_checked"
	CodeNotRead              Code = "not_read"
	CodeEvidenceUnused       Code = "evidence_unused"
	CodePartsOverlap         Code = "parts_overlap"
	CodePartsNotJoined       Code = "parts_not_joined"
	CodeCopyNotChecked       Code = "copy_not_checked"
	CodeAskedNotRecorded     Code = "asked_not_recorded"
	CodeEnvelopeNotChecked   Code = "envelope_not_checked"
	CodeReplayNotChecked     Code = "replay_not_checked"
	CodeUnauthenticated      Code = "unauthenticated_members"
	CodeUncovered            Code = "uncovered_members"
	CodeStatementNotChecked  Code = "statement_not_checked"
	CodeUnknownCosigners     Code = "unknown_cosigners"

	CodeStatementMalformed   Code = "statement_malformed"
	CodeStatementUnsupported Code = "statement_unsupported"
	CodeStatementFork        Code = "statement_fork"
	CodeStatementMissing     Code = "statement_missing"
	CodeAfterEnd             Code = "after_end"
	CodeTimeContradicted     Code = "time_contradicted"
	CodeStreamOpen           Code = "stream_open"
	CodeSilence              Code = "silence"
	CodeNotFromStart         Code = "not_from_start"
)

// These are the codes for warnings, which never change a verdict.
const (
	CodeTimeOrder         Code = "time_order"
	CodeDecisionReversed  Code = "decision_reversed"
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
	OutcomeNotCounted  Outcome = "not counted" // the signature does not count; the receipt is refuted if the policy is not met without it
	OutcomeInforms     Outcome = "informs"     // listed as not checked; undecided only under a strict policy, if the step was not checked
	OutcomeWarns       Outcome = "warns"       // a warning, or listed as not checked; never changes the verdict
	OutcomeRefusesFile Outcome = "refuses"     // the key file cannot be used
)

// A CodeInfo explains a code to people.
type CodeInfo struct {
	Code    Code
	Where   string // name of a step, "warning", "not checked", or "key set"
	Outcome Outcome
	Meaning string // what was found, in one or two sentences
	Next    string // what to do next; callers add the command or function to use
}

// Lookup returns the explanation of a code, and reports whether the code exists.
func Lookup(c Code) (CodeInfo, bool) {
	for _, info := range Codes() {
		if info.Code == c {
			return info, true
		}
	}
	return CodeInfo{}, false
}

// Codes returns all codes with their explanations, ordered by step. `receipt explain` and
// docs/codes.md are generated from this list.
func Codes() []CodeInfo {
	const resaved = "The file was probably re-saved or pasted. Ask for it as an attachment."
	return []CodeInfo{
		{CodeSyntax, "parse", OutcomeRefutes, "The bytes are not JSON (RFC 8259).", resaved},
		{CodeDuplicateName, "parse", OutcomeRefutes, "An object has two members of the same name (compared after unescaping), so two readers could see two different receipts.", "Ask the issuer for a receipt without duplicate names; no reader can tell which value was meant."},
		{CodeInvalidUTF8, "parse", OutcomeRefutes, "The bytes are not UTF-8, which JSON requires (RFC 8259 section 8.1).", resaved},
		{CodeLoneSurrogate, "parse", OutcomeRefutes, `A string contains half of a surrogate pair, such as "\ud800", which is not valid in Unicode text (RFC 7493 section 2.1).`, "Ask the issuer. Its JSON writer cut a character in two."},
		{CodeNumberRange, "parse", OutcomeRefutes, "A number is outside the range of an IEEE-754 double, so it has no canonical form.", "Ask the issuer. Such a number cannot be part of a receipt."},
		{CodeDepthLimit, "parse", OutcomeRefutes, "Arrays and objects are nested deeper than 128 levels, the limit of the receipt format. If the document only exceeds a lower limit of the caller, the verdict is undecided.", "Raise the limit if you set it."},
		{CodeSizeLimit, "parse", OutcomeRefutes, "The document is larger than 16 MiB, the limit of the receipt format. If the document only exceeds a lower limit of the caller, the verdict is undecided.", "Raise the limit if you set it. Put large material into artifacts that the receipt names by hash."},
		{CodeTrailingData, "parse", OutcomeRefutes, "Bytes follow the end of the JSON value.", "If they are a second receipt, split the file into one document per file."},
		{CodeEmptyInput, "parse", OutcomeRefutes, "The input contains no JSON value. It is empty or contains only whitespace.", "Check the path, or the command that should have written to the pipe."},
		{CodeNumberPrecision, "parse", OutcomeRefutes, "A number is integral and outside ±(2^53−1), regardless of its spelling. Other integers have the same double and canonical text, so the hash cannot distinguish them (RFC 7493 section 2.2). The same applies to a disclosed value.", "Ask the issuer to write such values as strings."},
		{CodeNotObject, "parse", OutcomeRefutes, "The JSON value is not an object. A receipt is an object.", "Check that the file is a receipt."},
		{CodeNonDeterministicCBOR, "parse", OutcomeRefutes, "An item of an archive is not the deterministic CBOR (RFC 8949 section 4.2.1) of its receipt. It has a different order, length, number form, or type.", "Ask for the JSON, or for an archive in deterministic CBOR."},
		{CodeTornTail, "parse", OutcomeUndecides, "The input ends in the middle of a receipt. It is still being written, its writer was interrupted, or the copy is truncated.", "Copy the file again when it is complete. The receipts before the truncated end are judged."},
		{CodeForeignReceipt, "parse", OutcomeUndecides, "The document is a receipt, or other signed evidence, in a third-party format. Nothing in it was checked, and nothing is known to be wrong with it.", "Verify it with a tool for that format."},
		{CodeAttestationInvalid, "parse", OutcomeRefutes, "An attestation is malformed: its bundle, envelope, or statement does not have the form that the format requires, or has additional content.", "Ask for an undamaged copy."},
		{CodeAttestationMismatch, "parse", OutcomeRefutes, "The subjects of an attestation do not match the receipt that it contains.", "Ask the attester of the receipt for a new attestation."},
		{CodeAttestationUnsupported, "parse", OutcomeUndecides, "An attestation is of an unsupported kind: another version of the bundle, another type of payload or predicate, or one that relies on a certificate, a log, or a timestamp.", "Verify it with a tool for that kind, such as cosign."},

		{CodeNotAReceipt, "schema", OutcomeRefutes, "The document is JSON, but not marked as a receipt: it has none of the members schema, receipt_id, and chain.", "Check that the file is a receipt."},
		{CodeUnsupportedSchema, "schema", OutcomeUndecides, "The schema member names a version of the receipt format other than receipt-2026-04-25.", "Verify it with a tool that supports that version."},
		{CodeSchemaInvalid, "schema", OutcomeRefutes, "A member is missing, unknown, of the wrong type, or has a value that the format does not allow.", "Ask the issuer. Editing the file would break its hash."},

		{CodeMalformedHash, "hash", OutcomeRefutes, `A stated hash is not "sha256:" and 64 lowercase hexadecimal digits.`, "Ask the issuer for an undamaged copy."},
		{CodeHashMismatch, "hash", OutcomeRefutes, "The SHA-256 of the canonical receipt, without /chain/receipt_hash and /signatures, is not the hash that the receipt states. The hash was computed from other content.", "Compare with another copy, and inspect the hashed bytes."},
		{CodeMaterialMismatch, "hash", OutcomeRefutes, "Material does not match the receipt: the SHA-256 of the bytes in bytes_base64 or of a given file differs from the stated one, or bytes_base64 is not strict padded base64.", "Compare with the issuer's copy of that material."},
		{CodeMaterialNotFound, "hash", OutcomeUndecides, "Files were given to check, but some files that the receipt identifies by sha256 are missing. The hash of the receipt itself matches.", "Add the missing files, or verify without files."},
		{CodeChainBreak, "link", OutcomeRefutes, "previous_receipt_hash does not name the predecessor. Only the first receipt of a stream states null. A hash of 64 zeros matches no receipt.", "Look for the missing receipt, or ask the issuer."},
		{CodeStreamMismatch, "link", OutcomeRefusesFile, "The predecessor of the draft belongs to another stream. A stream has one issuer.id, tenant_id, and workspace_ref.", "Specify the last receipt of the same stream as the predecessor."},
		{CodeChainFork, "link", OutcomeRefutes, "Two receipts of one stream name the same predecessor, so the stream has two histories.", "Ask the issuer which receipt is correct, and why there are two."},
		{CodeDuplicateID, "link", OutcomeRefutes, "Two receipts of one issuer have the same receipt_id and different content.", "Ask the issuer which receipt is correct."},
		{CodeTruncated, "link", OutcomeRefutes, "Receipts are missing: the expected head of a stream is not in the input, or the input has fewer receipts than a checkpoint covers.", "Ask for the missing receipts."},
		{CodeHeadMismatch, "link", OutcomeRefutes, "The stream does not end in the expected receipt.", "Compare with the head of an earlier report, and ask the issuer for the receipts in between."},
		{CodeCountMismatch, "link", OutcomeRefutes, "The stream does not have the expected number of receipts.", "Look for missing or added receipts."},

		{CodeProofInvalid, "batch", OutcomeRefutes, "An inclusion proof is malformed, or no proof matches the receipt: the path from its hash does not lead to the root in the checkpoint, its length is wrong, or its index is not below the size of the tree.", "The proof is damaged, or is for another receipt or tree. Ask the log for the proof of this receipt."},
		{CodeCheckpointInvalid, "batch", OutcomeRefutes, "A checkpoint is malformed, has an invalid signature of a trusted log or witness key, or contradicts another checkpoint that the same log signed.", "Ask the log for an undamaged copy."},
		{CodeCheckpointRequired, "batch", OutcomeUndecides, "The policy, or a given checkpoint of all receipts, requires that a checkpoint of a trusted log includes the receipt, but none of the given checkpoints does.", "Ask the log for an inclusion proof."},
		{CodeMerkleRootMismatch, "batch", OutcomeRefutes, "The receipt and its batch contradict each other: the batch lists different content or a different hash for the receipt, has a root other than the stated root or that of its leaves, or does not list the receipt.", "Ask the issuer for the batch with which the receipt was sealed."},
		{CodeTimestampInvalid, "batch", OutcomeRefutes, "A timestamp is malformed, covers other bytes, or has a signature, nonce, policy, or certificate that is invalid.", "Ask for an undamaged copy, or request a new timestamp."},
		{CodeTimeSelfAsserted, "batch", OutcomeUndecides, "The policy requires a time that is proven by an authority. A receipt or a statement has no proven time, so its time is only stated by its issuer.", "Ask for a timestamp of the receipt, of a checkpoint that includes it, or of the statement."},
		{CodeNotInBatch, "batch", OutcomeUndecides, "A batch was given, but it does not list the receipt, and the receipt does not state its root.", "Specify the batch of this receipt, or no batch."},

		{CodeUnsigned, "signatures", OutcomeUndecides, "The receipt has no signature of the issuer. The content matches its hash, but anyone could have written both.", "Ask the issuer for the signed receipt."},
		{CodeUnknownKey, "signatures", OutcomeUndecides, "The key that a signature names, or the key of a checkpoint's log, is not among the trusted keys, so the signature could not be checked.", "Get that key from the issuer, not from the sender of the receipt, and add it to the trusted keys."},
		{CodeTrustUnavailable, "signatures", OutcomeUndecides, "The trusted keys could not be read, for example because their database is unavailable. Whether the key of a signature or of a checkpoint is trusted is therefore unknown.", "Verify again when the trusted keys are available."},
		{CodeUnsupportedAlgorithm, "signatures", OutcomeUndecides, "A signature names an algorithm outside the fixed list (ed25519, EdDSA, ES256, ES384, ES512, PS256, PS384, PS512, RS256, RS384, RS512, ML-DSA-65; exact spelling).", "Ask the issuer for a signature with one of these algorithms."},
		{CodeMalformedSignature, "signatures", OutcomeRefutes, `A signature value does not have the form of its algorithm: "base64:" and the padded base64 of 64 bytes for ed25519, "jws:" and a detached compact JWS for the others, each in its only accepted encoding.`, "Ask for an undamaged copy."},
		{CodeAlgorithmMismatch, "signatures", OutcomeRefutes, "A signature names an algorithm other than that of the trusted key. The key determines the algorithm, never the receipt.", "Ask the issuer, or correct the key file if its alg is wrong."},
		{CodeSignatureInvalid, "signatures", OutcomeRefutes, "A signature is not a valid signature of the stated hash by the named key.", "The signature or the hash was changed, or another key signed. Ask the issuer."},
		{CodeIssuerUnbound, "signatures", OutcomeUndecides, "The signing key is trusted, but the key file does not specify an issuer for which it may speak.", "Specify the issuer to verify for, or add \"issuers\" to the key in the key file."},
		{CodeIssuerMismatch, "signatures", OutcomeNotCounted, "The receipt's issuer.id is not one for which the signing key may speak, or is not the required issuer.", "If the key belongs to that issuer, add the ID to \"issuers\" in the key file."},
		{CodeRoleMismatch, "signatures", OutcomeNotCounted, "The signing key does not have the role that its signature would need: \"issuer\", or \"witness\" for a countersignature.", "Correct \"roles\" in the key file if they are wrong."},
		{CodeNamedKeyMissing, "signatures", OutcomeUndecides, "The receipt names the issuer's key in issuer.public_key_id, inside the hash, but has no valid signature by that key.", "Ask the issuer for a receipt signed by the key it names."},
		{CodeThresholdNotMet, "signatures", OutcomeUndecides, "Fewer witnesses signed the receipt, or cosigned its checkpoint, than the policy requires. Witnesses are counted by distinct key material, and issuer keys never count.", "Collect the missing countersignatures."},
		{CodeKeyNotYetValid, "signatures", OutcomeNotCounted, "The key's validity begins (nbf) after the time at which the receipt was issued, or after the time that the policy names.", "Check the receipt's issued_at and the key file's nbf."},
		{CodeKeyExpired, "signatures", OutcomeNotCounted, "The key's validity had ended (exp) at the time at which the receipt was issued, or at the time that the policy names.", "Check the receipt's issued_at and the key file's exp."},
		{CodeKeyRevoked, "signatures", OutcomeNotCounted, "The key was revoked. Its signatures are rejected regardless of the time in the receipt, unless the key was superseded after the receipt was issued.", "Ask the issuer for the receipt with a signature by a valid key."},
		{CodeSignatureLimit, "signatures", OutcomeUndecides, "The receipt has more than 100 signatures. Only the first 100 were examined.", "Remove unneeded signatures, which are outside the hash."},
		{CodeNotAttested, "signatures", OutcomeUndecides, "An attestation of a commit or a digest is required, but the receipt has no attestation, or only an attestation of something else.", "Ask the issuer of the receipt for the required attestation."},
		{CodeWeakKey, "key set", OutcomeRefusesFile, "A key provides no security: a low-order or non-canonical Ed25519 point, an RSA modulus below 2,048 or above 8,192 bits, an RSA exponent that is even or at most 3, or a point that is not on its curve.", "Generate a new key."},
		{CodeInvalidKeySet, "key set", OutcomeRefusesFile, "The file is not an accepted JWK Set of public signing keys: it is malformed, or contains a duplicate key ID, a private or symmetric key, or a contradictory use.", "Correct the file as the message describes."},

		{CodeDisclosureMismatch, "redactions", OutcomeRefutes, "A disclosed value, its salt, or its field is not the one that the receipt commits to: the SHA-256 of field, salt, and value differs from the proof_hash of its entry in redactions. Or the values contradict each other or the receipt: one field has two values, a value differs from the one in the disclosed value of an ancestor, or the receipt still has a value in that place.", "Ask the sender of the disclosure for the original value."},
		{CodeDisclosureUnknown, "redactions", OutcomeRefutes, "A disclosed field has no entry with a proof_hash in the redactions of the receipt.", "Check that the disclosure belongs to this receipt."},
		{CodeDisclosureUnbound, "redactions", OutcomeUndecides, "Disclosed values belong to no receipt in the input: they are bound to the hash of another receipt, or name no receipt and match no commitment.", "Specify the disclosures of these receipts, or omit them."},
		{CodeProtectedField, "redact", OutcomeRefusesFile, "A rule would withhold a member that every receipt needs unchanged (schema, receipt_id, subject, issuer, issued_at, identifiers, chain, lifecycle.final_state), or a value that contains such a member. As a warning: the redactions of a receipt list such a member as withheld.", "Keep secrets out of that member, or change the rule."},

		{CodeReplaySourceMismatch, "hash", OutcomeRefutes, "The receipt is not from a replay of the given log: it has another subject, or names another source or another digest of its log.", "Specify the log that the receipt names, complete and unchanged, and the task that was replayed."},
		{CodeDeltaMissing, "hash", OutcomeRefutes, "The request replaces a value, but the receipt of the replay lists no delta for it.", "Specify the request that was replayed. If it is correct, ask the issuer why the substitution is not listed."},
		{CodeDeltaUnexpected, "hash", OutcomeRefutes, "The receipt of a replay lists a delta that is not in the request.", "Specify the request that was replayed. If it is correct, something else was swapped."},
		{CodeDeltaMismatch, "hash", OutcomeRefutes, "A delta in the receipt of a replay differs from the log and the request in the original value, the replacement, the location, or the reason.", "Compare with the deltas that result from the log and the request."},
		{CodeOverrideHashMismatch, "hash", OutcomeRefutes, "An override states a SHA-256 that does not match its value. The SHA-256 of a JSON value covers its canonical form (RFC 8785), and that of an artifact covers its bytes.", "State the computed digest, or omit it."},
		{CodeMaterialSubstituted, "hash", OutcomeRefutes, "A material of a replay is not the recorded one, and no override of the request replaces it.", "Something was refreshed or swapped without being listed. Ask the issuer."},
		{CodeReplayEffect, "hash", OutcomeRefutes, "The receipt of a replay states an effect, an approval, a cost, or a consumption. Replayed events have no effects of their own, because the source task caused them.", "Ask the issuer what the replay did, and why."},
		{CodeReplayUnavailable, "hash", OutcomeUndecides, "Something that the replay needs is missing, or the log and the request do not show whether a statement of its receipt is correct, for example about an artifact that a module created.", "Find the missing item, or specify the receipt of the source, which may settle the question."},
		{CodeReplayDiffers, "hash", OutcomeRefutes, "Two replays of one log and one request differ, or the receipt of a replay has a value that differs from the log and the request: a time, the end, an identifier, a tier, a budget, or a model.", "Check the named place. The clock of the machine, or data that is not in the log, may have been used."},

		{CodeLinkNotChecked, "not checked", OutcomeInforms, "It was not checked whether receipts precede or follow this one in its stream.", "Verify the whole stream."},
		{CodeBatchNotChecked, "not checked", OutcomeInforms, "The receipt states a merkle_root, but its batch was not given.", "Ask the issuer for the batch."},
		{CodeRedactionsNotChecked, "not checked", OutcomeInforms, "The receipt lists withheld values, but no disclosures were given.", "Ask the issuer to disclose the fields that you may see."},
		{CodeSignaturesNotChecked, "not checked", OutcomeWarns, "Signatures were not checked, because only integrity was required. Anyone can write a receipt that matches its own hash.", "Verify with the issuer's keys."},
		{CodeStepNotReached, "not checked", OutcomeWarns, "An earlier step failed, so this step has nothing to check.", "Correct the earlier failure first."},
		{CodeTailNotChecked, "not checked", OutcomeWarns, "It was not checked whether receipts follow the last receipt of a stream. A truncated chain alone cannot be distinguished from a complete one.", "Specify how the stream must end: a hash, an earlier report, or a checkpoint."},
		{CodeIDsNotChecked, "not checked", OutcomeWarns, "It was not checked whether two receipts have the same receipt_id, because the input is too large to be compared in memory, or because reports of parts were merged.", "Verify the parts in one run."},
		{CodeEvidenceUnused, "not checked", OutcomeUndecides, "Evidence was given that relates to no receipt of the input: a proof or a batch of other receipts, disclosures of another receipt, a predecessor in another stream, or files that no receipt names. Such evidence shows nothing about the input.", "Specify the evidence of these receipts, or omit it."},
		{CodePartsOverlap, "not checked", OutcomeUndecides, "Two of the merged parts contain the same receipt, and their summaries do not contain enough information to count it once. Receipts in both parts were counted twice, and it is unknown whether receipts are missing between parts.", "Verify the parts together, or cut them without overlap and merge the new reports."},
		{CodePartsNotJoined, "not checked", OutcomeUndecides, "Merged parts of a stream do not join, and their reports do not show whether receipts are missing between them, are in both, or fork: they list no receipts, or only some of them are selections. Or it is unknown whether two parts use the same receipt_id.", "Verify the parts together, or verify each again and merge the new reports."},
		{CodeCopyNotChecked, "not checked", OutcomeUndecides, "A receipt does not follow the previous one, and may be a copy of an earlier receipt, because the input has more receipts than are kept in memory.", "Cut the input into several files, which are compared on disk."},
		{CodeAskedNotRecorded, "not checked", OutcomeWarns, "It was not checked whether the merged parts were verified with the same policy, because the report of a part is from an older version, which does not record the policy.", "Verify the part again."},
		{CodeEnvelopeNotChecked, "not checked", OutcomeWarns, "The receipt is in an API envelope, whose other members are not protected.", "Rely on the receipt, not on the envelope."},
		{CodeReplayNotChecked, "not checked", OutcomeWarns, "The log and the request do not determine a member in the receipt of a replay, such as receipt_id, or the member only repeats them in another form.", "If the member matters, ask the issuer."},
		{CodeUncovered, "not checked", OutcomeWarns, "Members of a third-party receipt are outside its hash and its signatures. Anyone may have written or changed them.", "Do not rely on these members."},
		{CodeStatementNotChecked, "not checked", OutcomeWarns, "A signed statement is authentic, but its content is only a claim of its signer and was not checked. For a verdict of another verifier, its subjects were not compared with files.", "Verify the payload or the subjects, too."},
		{CodeUnauthenticated, "not checked", OutcomeWarns, "The key_id, algorithm, and signed_at of a signature are outside the hash. They are not authenticated, except inside the protected header of a JWS.", "Do not rely on signed_at. Use issued_at, which is inside the hash."},
		{CodeValidityNotChecked, "not checked", OutcomeWarns, "It was not checked whether a key was valid when a receipt was issued, because the policy names another time.", "Verify without a time in the policy."},
		{CodeUnknownCosigners, "not checked", OutcomeWarns, "A checkpoint has signature lines of keys that are not trusted, or of unsupported algorithms.", "If the policy requires those witnesses, add their keys. Otherwise, do nothing."},

		{CodeNotRead, "input", OutcomeRefusesFile, "An input was not read, or contains no receipts.", "Check the path, and that the file can be read."},

		{CodeStatementMalformed, "statements", OutcomeRefutes, "A line of a file of stream statements is not a statement in its canonical form, in a DSSE envelope.", "Ask the issuer for an undamaged copy."},
		{CodeStatementUnsupported, "statements", OutcomeUndecides, "A stream statement has a schema that this version does not support.", "Use a newer version."},
		{CodeStatementFork, "statements", OutcomeRefutes, "The statements of a stream contradict each other: two statements follow the same statement, a statement follows the final one, or the count or the time decreases.", "Keep the statements as evidence, and ask the issuer."},
		{CodeStatementMissing, "statements", OutcomeUndecides, "A statement names a previous statement that was not given.", "Ask the issuer for all statements of the stream."},
		{CodeAfterEnd, "statements", OutcomeRefutes, "A stream has more receipts than its final statement states.", "Ask the issuer which receipts followed the end."},
		{CodeTimeContradicted, "statements", OutcomeRefutes, "A receipt or a statement existed before the time that it states, according to a timestamp. Alternatively, a statement has a time in the future, or states fewer receipts than a witness had seen before that time.", "Ask the issuer. Its clock or the stated time was set back."},
		{CodeStreamOpen, "statements", OutcomeUndecides, "The end of a stream is required (--closed), but no final statement was given.", "Ask the issuer for the final statement, or omit --closed."},
		{CodeSilence, "statements", OutcomeUndecides, "No statement was made for longer than the stream itself or the verifier (--heartbeat) allows. The recorder may not have run, or statements and receipts may have been removed.", "Ask the issuer for the statements of that time."},
		{CodeNotFromStart, "statements", OutcomeUndecides, "The input does not begin with the first receipt of the stream, or is a selection, so the number of receipts cannot be compared with its statements.", "Verify the stream from its beginning."},

		{CodeDecisionReversed, "warning", OutcomeWarns, "In a chain of third-party receipts, a request is allowed although an earlier receipt denied the same actor, target, and method. Both receipts may be authentic.", "Ask the issuer which decision took effect."},
		{CodeTimeOrder, "warning", OutcomeWarns, "The times contradict each other. They should be in the order created, started, completed, issued.", "Ask the issuer. Its clock may be wrong."},
		{CodeCostSum, "warning", OutcomeWarns, "The amounts of cost.provider_breakdown do not add up to cost.total (difference above 0.000001).", "Ask the issuer which value is correct."},
		{CodeFailureState, "warning", OutcomeWarns, "lifecycle.failure and final_state disagree: a failure without FAILED, or FAILED without a failure.", "Ask the issuer which value is correct."},
		{CodeCountsDiffer, "warning", OutcomeWarns, "The number of tool calls in the budget is lower than the number that side_effects.tool_calls lists as made, or higher than the total that it lists.", "Ask the issuer. Calls without side effects may be counted but not listed."},
		{CodeUnavailableReason, "warning", OutcomeWarns, "replay_input.determinism and unavailable_reason disagree: a reason without \"unavailable\", or \"unavailable\" without a reason.", "Ask the issuer which value is correct."},
		{CodeRepeatedField, "warning", OutcomeWarns, "Two entries of redactions commit to two values of one field. Either may be the withheld value, or a part was withheld first and the rest later.", "Ask for both values to be disclosed to the same reader. Different values are refuted."},
		{CodeRepeatedID, "warning", OutcomeWarns, "Two entries of one list have the same ID.", "Ask the issuer which entry each use of the ID refers to."},
		{CodeIdenticalCopy, "warning", OutcomeWarns, "The input contains the same receipt more than once. It is counted once.", "No action is needed."},
		{CodeIssuedLater, "warning", OutcomeWarns, "issued_at is later than the time of the verification, or than the time that the policy names.", "Ask the issuer. Its clock may be wrong."},
		{CodeCircularRoot, "warning", OutcomeWarns, "chain.merkle_root equals chain.receipt_hash. The root is inside the hashed bytes, so no tree that contains the receipt can have that root.", "Ask the issuer to omit merkle_root, or to seal the receipt in a batch."},
	}
}
