// Package attest writes and reads attestations of receipts: an in-toto Statement in a DSSE
// envelope in a Sigstore bundle. The statement contains the entire receipt, so the attestation
// includes its subject matter.
//
// # Statement
//
// An in-toto Statement v1 in canonical JSON (RFC 8785):
//
//	{"_type": "https://in-toto.io/Statement/v1",
//	 "predicate": {"receipt": {…}},
//	 "predicateType": "urn:receiptkit:attestation:receipt:v1",
//	 "subject": [{"digest": {"sha256": "…"}, "name": "…"}, …]}
//
// Its subjects are the results of the task according to the receipt, in this order:
//
//   - the final artifacts with a digest, by their artifact_id;
//   - the files written, by their path, each with the digest after its last listed write; a
//     file that was finally deleted, or whose digest after the write was not recorded, is not a
//     subject;
//   - the git commits: final artifacts of the kind "git_commit", whose artifact_id is the name
//     of the commit, 40 or 64 lowercase hexadecimal digits. If the receipt names none, the
//     caller may name one, and the statement then relies on the caller.
//
// Digests, entries, and lists in metadata.unreported or metadata.at_most are respected: values
// that the source did not record, or that may not have happened, are not subjects. Equal
// subjects are listed once. If there are no subjects, the subject is the receipt itself, with
// its receipt_hash. There are at most [MaxSubjects].
//
// The commit that was checked out when an agent began (metadata.source.git_commit) is not a
// subject, because the task resulted in another commit.
//
// The receipt and the commit therefore determine every byte of the statement. A reader creates
// the statement again, and a statement that differs in one byte is refuted.
//
// # Envelope
//
// The signed message is the pre-authentication encoding of DSSE v1:
//
//	"DSSEv1" SP length(type) SP type SP length(statement) SP statement
//
// with the type "application/vnd.in-toto+json" and lengths in bytes, in decimal digits. The key
// is for Ed25519, ES256, or ML-DSA-65, as in package keys. In a shell, from a bundle:
//
//	jq -rj .dsseEnvelope.payload bundle.json | base64 -d > statement.json
//	printf 'DSSEv1 28 application/vnd.in-toto+json %s ' $(wc -c < statement.json) | cat - statement.json > message
//
// # Bundle
//
// A Sigstore bundle v0.3, on one line with a line end:
//
//	{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
//	 "verificationMaterial": {"publicKey": {"hint": "…"}},
//	 "dsseEnvelope": {"payload": "…", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "…"}]}}
//
// hint is the ID of the key. It is outside the signature, and only specifies which trusted key
// to try. No other key is tried. payload and sig are standard base64 with padding and without
// whitespace. A bundle is at most [MaxBytes] long. It is strict JSON (RFC 7493) with these
// members and no others, except that the signature may have a keyid, which is empty or equals
// the hint.
//
// # Reading
//
// [Parse] checks the form of a bundle, and [Envelope.Open] that of its statement. An [Opener]
// lets package stream judge attestations wherever it reads receipts. The verifier judges the
// receipt inside like any other receipt. It judges the signature of the envelope like a
// signature of the receipt: the key must be allowed to speak for the issuer, at the same time.
package attest
