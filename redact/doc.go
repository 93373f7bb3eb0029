// Package redact withholds secrets from receipt drafts before they are sealed.
//
// # Rules and policies
//
// [Rules] specify the values to withhold: by JSON Pointer, by member name, in URLs, or with a
// [secret.Detector], which describes one kind of secret. [Rules.Compile] compiles the rules into an
// immutable [Policy]. [Upstream], [Default], and [Strict] return rules to use or to extend.
//
// Detectors and the URL rule search every string and every member name, both as written and with
// one level of percent-encoding or JSON escapes removed. For example, they find "ghp%5F…", and
// "ghp_…" in JSON within a string. In the bytes_base64 member of a material, they search the
// decoded bytes. A string member is also searched together with its name, as is an object with
// separate members for a name and a value (see [Rules].Members). Secrets in another encoding,
// encoded twice, or split across two values are not detected.
//
// # What is withheld
//
// A rule that matches a pointer or a name withholds the entire value and replaces it with
// "[redacted]". If the format requires another type at that location, an optional member is
// removed, a list is replaced with [], and an open object is replaced with {}. Any other value
// cannot be withheld, which results in an error (schema_break). Elements are never removed, so that
// indexes do not change. A detector withholds part of a string, which it replaces with
// "<redacted:NAME>". Neither placeholder reveals the length of the withheld text. The user
// information is removed from URLs, and the values of sensitive parameters are replaced with
// "%5Bredacted%5D". If the policy contains the detector jwk_private_key, the private members of an
// object that is a JWK are withheld entirely.
//
// If the name of a member contains a secret, the object that contains the member is withheld. A
// null value is never replaced, because it states that there is no value. If several values on a
// path match, only the outermost value is withheld and gets an entry.
//
// Digests of a withheld value are also withheld, because the digest of a short value, such as a
// PIN, reveals the value to anyone who tries all candidates. The format has members for these
// digests:
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
// In open objects, they are members such as pin_sha256 next to pin, and members named hash or
// args_hash next to any withheld member. Some digests are withheld wherever they occur. These are
// the SHA-256 of the value, the SHA-256 of each string in the value, and the digests listed above.
// Existing entries of redactions[] keep their proof_hash, unless it is equal to one of these
// digests.
//
// # What is never withheld
//
// The members schema, receipt_id, subject, issuer, issued_at, identifiers, chain, and
// lifecycle.final_state identify the receipt, and redactions is the list of entries. A rule is
// rejected if it would withhold one of these members, a part of such a member, or an object that
// contains such a member (protected_field). A draft is also rejected if one of these members,
// except redactions, contains a secret. Detectors do not search a string that is a digest.
//
// # Entries and commitments
//
// Each withheld value has an entry in redactions[]: field is the JSON Pointer to the value in the
// unredacted form, reason lists the rules, and proof_hash is a salted commitment (see
// [Disclosure.Commitment]). The withheld values and the salts are returned as [Disclosures]. Any
// value can later be disclosed to a recipient, who checks it against the sealed receipt with
// [Disclosures.Check].
//
// Redacting a draft that has been redacted changes nothing. A placeholder in a draft is not treated
// as a secret and gets no entry.
//
// # Order of steps
//
// First redact a draft, then seal it, and then sign the receipt. A document with
// /chain/receipt_hash or /signatures has been sealed. It is rejected (already_sealed), because its
// hash covers the values that would be withheld. One of these two members is sufficient.
// [Policy.Find] also accepts sealed documents, because it changes nothing.
//
// Errors, findings, entries, and summaries never quote a withheld value. When printed, a
// [Disclosure] shows only its field.
//
// The API of this package may still change. The meaning of redactions[] and disclosures does not
// change.
package redact
