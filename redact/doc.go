// Package redact withholds secrets from drafts of receipts, before they are
// sealed.
//
// # Rules and policies
//
// [Rules] name what to withhold: by JSON Pointer, by the name of a member, by a
// [secret.Detector] that knows what secrets look like, in URLs. [Rules.Compile] makes a
// [Policy] of them, once; it is immutable. [Upstream], [Default] and [Strict]
// return rules to use or to add to.
//
// Detectors and the rule for URLs read every string and every member name: the
// text itself, and with one level of percent-encoding or of JSON escapes taken
// off, so that ghp%5F… and "ghp_…" in a JSON text within a string are seen.
// In bytes_base64 of a material they read the bytes. A string member is shown to
// them with its name, too, and so is what a pair of a name and a value says
// ([Rules].Members). What is encoded in another way, twice, or
// split over two values is not found.
//
// # What is withheld
//
// A rule by pointer or by name withholds the whole value: "[redacted]" stands in
// its place. Where the format demands another type, an optional member is
// removed, a list becomes [], an open object {}, and anything else is refused
// (schema_break). Elements are never removed, so no index changes. A detector
// withholds a part of a string, "<redacted:NAME>"; neither placeholder tells how
// long the text was. In URLs user information goes, and the values of sensitive
// parameters become "%5Bredacted%5D". The private members of an object that is a
// JWK are withheld whole, when the policy has the detector jwk_private_key.
//
// A secret in the name of a member withholds the object whose member it is. null
// is kept: it says that there is no value. The outermost rule wins: what lies in
// a withheld value has no entry of its own.
//
// Digests of a withheld value are withheld with it, because few texts are a PIN
// and a digest tells which. They are those that the format puts beside it:
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
// in open objects members such as pin_sha256 beside pin, hash or args_hash beside
// anything; and wherever they stand, the SHA-256 of the value, of strings in it,
// and the digests just listed again. Entries that were in redactions[] keep
// their proof_hash unless it is one of these.
//
// # What is never withheld
//
// The members schema, receipt_id, subject, issuer, issued_at, identifiers, chain
// and lifecycle.final_state say which receipt this is; redactions is the list
// itself. A rule that would withhold any of them, a part of one or what holds
// one is refused (protected_field). So is a draft with a secret in them. A text
// that is a digest is not shown to detectors.
//
// # Entries and commitments
//
// Each withheld value is an entry of redactions[]: field is its pointer in the
// unredacted form, reason lists the rules, proof_hash is a salted [Commitment].
// The values and salts are [Disclosures]. Any of them can be shown to someone
// later, who checks them against the sealed receipt with [Disclosures.Check].
//
// Redacting a redacted draft changes nothing. A placeholder in a draft is
// not a secret, and makes no entry.
//
// # In which order
//
// Redact, seal, sign. A document with /chain/receipt_hash or /signatures is
// sealed and refused (already_sealed): its hash covers what would be taken out.
// That is enough for [Policy.Find], which only looks.
//
// No error, finding, entry or summary quotes a withheld value. [Disclosures]
// print as the names of their fields.
//
// The exported names may still change; what redactions[] and disclosures mean does not.
package redact
