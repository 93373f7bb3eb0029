// Package redact withholds secrets from drafts of receipts before they are sealed.
//
// # Rules and policies
//
// [Rules] specify which values to withhold: by JSON Pointer, by member name, in URLs, or with a
// [secret.Detector], which describes the form of secrets of one kind. [Rules.Compile] compiles them
// into an immutable [Policy]. [Upstream], [Default], and [Strict] return rules to use or to extend.
//
// Detectors and the rule for URLs search every string and every member name, both as written and
// with one level of percent-encoding or of JSON escapes removed. Therefore, ghp%5F… is found, and
// so is "ghp_…" in a JSON text within a string. In the bytes_base64 member of a material, they
// search the decoded bytes. A string member is also searched together with its name, and so is an
// object with a name and a value ([Rules].Members). Secrets in another encoding, encoded twice, or
// split across two values are not detected.
//
// # What is withheld
//
// A rule by pointer or by name withholds the entire value and replaces it with "[redacted]". If the
// format requires another type at that location, an optional member is removed, a list becomes [],
// and an open object becomes {}. Withholding any other value is an error (schema_break). Elements
// are never removed, so indexes do not change. A detector withholds part of a string and replaces
// it with "<redacted:NAME>". Neither placeholder reveals the text's length. URLs lose their user
// information, and the values of sensitive parameters become "%5Bredacted%5D". If the policy
// contains the detector jwk_private_key, the private members of an object that is a JWK are
// withheld entirely.
//
// If a member's name contains a secret, the object that contains the member is withheld. null is
// kept, because it states that there is no value. The outermost rule applies: a value inside a
// withheld value has no entry of its own.
//
// Digests of a withheld value are also withheld, because the digest of a short value, such as a
// PIN, reveals the value to anyone who tries all candidates. The format has members for the
// following digests:
//
//	withheld                                its digests
//	approvals[]: action, quorum_proof       evidence_hash
//	materials[]: bytes_base64, a data: URI, sha256
//	  metadata when there is nothing else
//	tool_calls[]: any member                input_hash, output_hash
//	final_artifacts[]: a data: URI          sha256
//	deltas[]: path, override_key, or what   before_sha256, after_sha256
//	  path leads to
//
// In open objects, these digests are members such as pin_sha256 next to pin, and hash or args_hash
// next to any member. The following digests are withheld wherever they occur: the SHA-256 of the
// value and of strings in it, and the digests listed above. Existing entries of redactions[] keep
// their proof_hash, unless it is one of these digests.
//
// # What is never withheld
//
// The members schema, receipt_id, subject, issuer, issued_at, identifiers, chain, and
// lifecycle.final_state identify the receipt; redactions is the list of entries itself. A rule is
// rejected if it would withhold one of these members, part of one, or an object that contains one
// (protected_field). A draft with a secret in any of these members except redactions is also
// rejected. Detectors do not search a text that is a digest.
//
// # Entries and commitments
//
// Each withheld value has an entry in redactions[]: field is its pointer in the unredacted form,
// reason lists the rules, and proof_hash is a salted commitment ([Disclosure.Commitment]). The
// values and salts are [Disclosures]. Any of them can later be disclosed to a recipient, who checks
// them against the sealed receipt with [Disclosures.Check].
//
// Redacting a redacted draft again changes nothing. A placeholder in a draft is not a secret and
// adds no entry.
//
// # Order of steps
//
// Redact, then seal, then sign. A document with /chain/receipt_hash or /signatures is sealed, and
// is rejected (already_sealed) because its hash covers the values that would be removed. Either
// member is sufficient. [Policy.Find] also accepts sealed documents, because it changes nothing.
//
// No error, finding, entry, or summary quotes a withheld value. [Disclosures] are printed as their
// field names.
//
// The API may still change. The meaning of redactions[] and disclosures does not.
package redact
