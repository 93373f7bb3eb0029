package receipt

// Codes returns the registry of codes, step by step. `receipt explain` and
// docs/codes.md are made from it.
func Codes() []CodeInfo {
	const resaved = "The file was probably re-saved or pasted. Ask for it as an attachment."
	return []CodeInfo{
		{CodeSyntax, "parse", Refutes, "The bytes are not JSON (RFC 8259).", resaved},
		{CodeDuplicateName, "parse", Refutes, "An object has two members of the same name (compared after unescaping), so two readers could see two different receipts.", "Ask the issuer for a receipt without duplicate names; no reader can tell which value was meant."},
		{CodeInvalidUTF8, "parse", Refutes, "The bytes are not UTF-8, which JSON demands (RFC 8259 section 8.1).", resaved},
		{CodeLoneSurrogate, "parse", Refutes, `A string has half of a surrogate pair such as "\ud800", which no Unicode text can hold (RFC 7493 section 2.1).`, "Ask the issuer: its JSON writer cut a character in two."},
		{CodeNumberRange, "parse", Refutes, "A number is beyond the range of an IEEE-754 double, so it has no canonical form.", "Ask the issuer; such a number cannot be part of a receipt."},
		{CodeDepthLimit, "parse", Refutes, "Arrays and objects are nested deeper than 128 levels, the limit of the receipt format. When a lower limit of the caller was hit instead, the verdict is undecided.", "Raise the limit if it is yours."},
		{CodeSizeLimit, "parse", Refutes, "The document is larger than 16 MiB, the limit of the receipt format. When a lower limit of the caller was hit instead, the verdict is undecided.", "Raise the limit if it is yours; large material belongs into artifacts that the receipt names by hash."},
		{CodeTrailingData, "parse", Refutes, "Bytes follow the end of the JSON value.", "If they are a second receipt, split the file: one document per file."},
		{CodeEmptyInput, "parse", Refutes, "The input holds no JSON value, only white space or nothing at all.", "Check the path, or the command that should have written to the pipe."},
		{CodeNumberPrecision, "parse", Refutes, "A number is integral and outside ±(2^53−1), however it is spelled. Its double has neighbours with the same canonical text, so the hash could not tell them apart (RFC 7493 section 2.2).", "Issuers write such values as strings."},
		{CodeNotObject, "parse", Refutes, "The JSON value is not an object. A receipt is one.", "Check that the file is a receipt."},

		{CodeNotAReceipt, "schema", Refutes, "The document is JSON, but nothing marks it as a receipt: neither schema, nor receipt_id, nor chain.", "Check that the file is a receipt."},
		{CodeUnsupportedSchema, "schema", Undecides, "The schema member names another version of the receipt format than receipt-2026-04-25.", "Verify it with a tool that knows that version."},
		{CodeSchemaInvalid, "schema", Refutes, "A member is missing, unknown, of the wrong type, or has a value that the format does not allow.", "Ask the issuer; editing the file would break its hash."},

		{CodeMalformedHash, "hash", Refutes, `A stated hash is not "sha256:" and 64 lower-case hexadecimal digits.`, "Ask the issuer for an undamaged copy."},
		{CodeHashMismatch, "hash", Refutes, "The SHA-256 of the canonical receipt, without /chain/receipt_hash and /signatures, is not the hash that the receipt states. The content is not what that hash was computed over.", "Compare with another copy: receipt diff OTHER_COPY FILE. To see the hashed bytes: receipt canon --preimage FILE."},
		{CodeChainBreak, "link", Refutes, "previous_receipt_hash does not name the predecessor. A first receipt states null; 64 zeros are the hash of nothing.", "Look for the missing receipt, or ask the issuer."},
		{CodeStreamMismatch, "link", RefusesFile, "A draft was to follow a receipt of another stream. A stream is one issuer.id, tenant_id and workspace_ref.", "Give the last receipt of the same stream as the predecessor."},

		{CodeUnsigned, "signatures", Undecides, "No signature of an issuer is there. The content fits its hash, but anyone could have written both.", "Ask the issuer for the signed receipt."},
		{CodeUnknownKey, "signatures", Undecides, "The key that a signature names is not among the trusted keys, so the signature could not be checked.", "Get that key from the issuer, not from the sender of the receipt, then receipt keys import FILE --id KEY_ID --issuer ISSUER."},
		{CodeUnsupportedAlgorithm, "signatures", Undecides, "A signature names an algorithm outside the fixed list (ed25519, EdDSA, ES256, ES384, ES512, PS256, PS384, PS512, RS256, RS384, RS512; exact spelling).", "Ask the issuer for a signature of that list."},
		{CodeMalformedSignature, "signatures", Refutes, `A signature value has not the form of its algorithm: "base64:" and the padded base64 of 64 bytes for ed25519, "jws:" and a detached compact JWS for the others, in their one strict encoding.`, "Ask for an undamaged copy."},
		{CodeAlgorithmMismatch, "signatures", Refutes, "A signature names another algorithm than the trusted key is for. The key decides, never the receipt.", "Ask the issuer, or correct the key file if its alg is wrong."},
		{CodeSignatureInvalid, "signatures", Refutes, "A signature is not the named key's signature over the stated hash.", "The signature or the hash was changed, or another key signed. Ask the issuer."},
		{CodeIssuerUnbound, "signatures", Undecides, "The signing key is trusted, but the key file does not say for which issuer it may speak.", "Name the issuer: --issuer ID, or add \"issuers\" to the key in the key file."},
		{CodeIssuerMismatch, "signatures", NotCounted, "The receipt's issuer.id is not one that the signing key may speak for, or not the issuer that was asked for.", "If the key does belong to that issuer, add the id to \"issuers\" in the key file."},
		{CodeRoleMismatch, "signatures", NotCounted, "The signing key does not have the role that its signature would need: \"issuer\", or \"witness\" for a countersignature.", "Correct \"roles\" in the key file if they are wrong."},
		{CodeNamedKeyMissing, "signatures", Undecides, "The receipt names the issuer's key in issuer.public_key_id, inside the hash, but no valid signature by that key is there.", "Ask the issuer for a receipt signed by the key it names."},
		{CodeThresholdNotMet, "signatures", Undecides, "Fewer witnesses signed than the policy demands. Distinct key material is counted, and issuer keys never count.", "Collect the missing countersignatures."},
		{CodeKeyNotYetValid, "signatures", NotCounted, "The key's validity begins (nbf) after the time at which the receipt was issued, or after --at.", "Check the receipt's issued_at and the key file's nbf."},
		{CodeKeyExpired, "signatures", NotCounted, "The key's validity had ended (exp) at the time at which the receipt was issued, or at --at.", "Check the receipt's issued_at and the key file's exp."},
		{CodeKeyRevoked, "signatures", NotCounted, "The key was revoked. Unless it was superseded later than the receipt was issued, its signatures are refused whatever the receipt's own clock says.", "Ask the issuer for the receipt under a valid key."},
		{CodeSignatureLimit, "signatures", Undecides, "The receipt has more than 100 signatures. Only the first 100 were examined.", "Remove signatures that nobody asked for; they lie outside the hash."},
		{CodeWeakKey, "key set", RefusesFile, "A key gives no security: a low-order or non-canonical Ed25519 point, an RSA modulus below 2,048 or above 8,192 bits, an RSA exponent of 3 or less or even, a point off its curve.", "Make a new key: receipt keys generate."},
		{CodeInvalidKeySet, "key set", RefusesFile, "The file is not a JWK Set of public signing keys as this tool reads it: malformed, a duplicate key id, a private or symmetric key, a contradictory use.", "Mend the file as the message says. receipt keys import adds keys without hand-editing."},

		{CodeLinkNotChecked, "not checked", Informs, "Whether receipts precede or follow this one in its stream.", "Verify the whole stream."},
		{CodeBatchNotChecked, "not checked", Informs, "The receipt states a merkle_root, but the batch it is the root of was not given.", "Ask the issuer for the batch."},
		{CodeRedactionsNotChecked, "not checked", Informs, "The receipt lists withheld values, but no disclosures of them were given.", "Ask the issuer to disclose the fields that you may see."},
		{CodeSignaturesNotChecked, "not checked", Informs, "Signatures were not looked at, because only integrity was asked for. Anyone can write a receipt that fits its own hash.", "Verify with the issuer's keys: --keys FILE."},
		{CodeStepNotReached, "not checked", Informs, "An earlier step failed in a way that leaves this one without anything to check.", "Mend the earlier failure first."},
		{CodeUnauthenticated, "not checked", Informs, "key_id, algorithm and signed_at of a signature lie outside the hash. Nobody vouches for them, except inside the protected header of a JWS.", "Do not rely on signed_at; issued_at is inside the hash."},

		{CodeTimeOrder, "warning", Warns, "The times contradict each other: created, started, completed and issued should follow in this order.", "Ask the issuer; its clock may be wrong."},
		{CodeCostSum, "warning", Warns, "The amounts of cost.provider_breakdown do not add up to cost.total (difference above 0.000001).", "Ask the issuer which is right."},
		{CodeFailureState, "warning", Warns, "lifecycle.failure and final_state disagree: a failure without FAILED, or FAILED without a failure.", "Ask the issuer which is right."},
		{CodeCountsDiffer, "warning", Warns, "The budget counts another number of tool calls than side_effects.tool_calls lists.", "Calls without side effects may be counted but not listed; ask the issuer."},
		{CodeUnavailableReason, "warning", Warns, "replay_input.determinism and unavailable_reason disagree: a reason without \"unavailable\", or the other way round.", "Ask the issuer which is right."},
		{CodeRepeatedID, "warning", Warns, "Two entries of one list have the same id.", "Ask the issuer which one is meant where the id is used."},
		{CodeIssuedLater, "warning", Warns, "issued_at is later than the time of the verification, or than --at.", "Ask the issuer; its clock may be wrong."},
	}
}
