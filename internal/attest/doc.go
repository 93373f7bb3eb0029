// Package attest writes and reads attestations of receipts. An attestation is an in-toto Statement
// in a DSSE envelope in a Sigstore bundle. The statement contains the entire receipt, so an
// attestation can be verified without the receipt file.
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
//   - final artifacts with a digest, by artifact_id;
//   - written files, by path, each with the digest after its last listed write; a file is not a
//     subject if it was finally deleted, or if the digest after its last write was not recorded;
//   - git commits: final artifacts of the kind "git_commit" whose artifact_id is the name of the
//     commit, 40 or 64 lowercase hexadecimal digits. If the receipt names no commit, the caller may
//     name a commit, for which only the caller vouches.
//
// Values that the source did not record, and entries for actions that may not have happened, are
// not subjects. Digests and entries in metadata.unreported are therefore omitted, and so are
// digests, entries, and lists in metadata.at_most. If only a list is in metadata.unreported, it is
// incomplete, and its entries are included. Equal subjects are listed once. If there are no
// subjects, the receipt itself is the subject, with its receipt_hash. There are at most
// [MaxSubjects] subjects.
//
// The commit that was checked out when an agent began (metadata.source.git_commit) is not a
// subject, because the task resulted in a different commit.
//
// The receipt and the commit therefore determine every byte of the statement. A reader regenerates
// the statement and refutes a statement that differs in any byte.
//
// # Envelope
//
// The signature covers the pre-authentication encoding of DSSE v1:
//
//	"DSSEv1" SP length(type) SP type SP length(statement) SP statement
//
// The type is "application/vnd.in-toto+json", and the lengths are in bytes, as decimal digits. The
// key is an Ed25519, ES256, or ML-DSA-65 key, as in package keys. These shell commands extract the
// signed message from a bundle:
//
//	jq -rj .dsseEnvelope.payload bundle.json | base64 -d > statement.json
//	printf 'DSSEv1 28 application/vnd.in-toto+json %s ' $(wc -c < statement.json) | cat - statement.json > message
//
// # Bundle
//
// The file is a Sigstore bundle v0.3 on one line, followed by a newline:
//
//	{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
//	 "verificationMaterial": {"publicKey": {"hint": "…"}},
//	 "dsseEnvelope": {"payload": "…", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "…"}]}}
//
// The member hint is the ID of the key. The signature does not cover the hint, which specifies only
// the trusted key to try. No other key is tried. The members payload and sig are standard base64
// with padding and without whitespace. A bundle has at most [MaxBytes] bytes. It is strict JSON
// (RFC 7493) with exactly these members. In addition, the signature may have a keyid, which must be
// empty or equal to the hint.
//
// # Reading
//
// [Parse] checks the form of a bundle, and [Envelope.Open] checks the form of its statement. With
// an [Opener], package stream verifies attestations wherever it reads receipts. The verifier
// evaluates the receipt inside an attestation like any other receipt. It evaluates the envelope's
// signature in the same way as a signature of the receipt, including whether the key may speak for
// the issuer at that time.
package attest
