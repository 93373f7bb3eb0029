// Package attest writes and reads attestations of receipts: an in-toto Statement in a DSSE
// envelope in a Sigstore bundle. The receipt stands whole in the statement, so that whoever
// has the attestation has what it is about.
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
// Its subjects are what the receipt says that the task left, in this order:
//
//   - the final artifacts with a digest, by their artifact_id;
//   - the files written, by their path, each with the digest after its last write that is
//     listed; a file that was deleted last, or whose digest after is not told, is none;
//   - the git commits: final artifacts of the kind "git_commit", whose artifact_id is the
//     name of the commit, 40 or 64 lower-case hexadecimal digits. Where the receipt names
//     none, the caller may name one, which the statement then says on the caller's word.
//
// What metadata.unreported or metadata.at_most says of a digest, an entry or a list is
// heeded: what the source did not tell, or what may not have happened, is no subject. Two
// subjects that are the same are one. Where nothing is left the subject is the receipt
// itself, with its receipt_hash. There are at most [MaxSubjects].
//
// The commit that was checked out when an agent began (metadata.source.git_commit) is no
// subject: what the task left is another one.
//
// So the statement follows from the receipt and the commit, byte for byte, and a reader
// makes it again: a statement that differs in one byte is refuted.
//
// # Envelope
//
// What is signed is the pre-authentication encoding of DSSE v1:
//
//	"DSSEv1" SP length(type) SP type SP length(statement) SP statement
//
// with the type "application/vnd.in-toto+json" and lengths in bytes, in decimal digits. The
// key is one for Ed25519 or ES256, as package keys has them. With a shell, of a bundle:
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
// hint is the id of the key. It lies outside the signature and only says which trusted key
// to try: no other is tried. payload and sig are standard base64 with padding and without
// white space. A bundle is at most [MaxBytes] long. It is strict JSON (RFC 7493) with these
// members and no other, but that the signature may have a keyid, which is empty or the hint.
//
// # Reading
//
// [Parse] judges the form of a bundle, [Envelope.Open] that of its statement. An [Opener]
// lets package stream judge attestations wherever it reads receipts: the receipt inside by
// its verifier, as any other, and the signature of the envelope as one of the receipt's own
// would be: by a key that may speak for its issuer, at the same time.
package attest
