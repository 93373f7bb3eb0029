// Package receipt makes and verifies receipts of the format receipt-2026-04-25.
//
// A receipt is a JSON object that says what a task of an AI agent did: who
// issued it, with which model, at what cost, with which approvals and side
// effects. Package chain defines what its hash covers. This package knows the
// whole envelope.
//
// # Making one
//
// A producer fills a [Draft]; [Seal] links it to the head of its stream and
// computes its hash; [Sealed.Sign] adds signatures over the hash. The types allow
// no other order: a Sealed has no fields to edit.
//
//	sealed, err := receipt.Seal(&draft, head) // the zero head: first of its stream
//	sealed, err = sealed.Sign(ctx, signer)
//	os.Stdout.Write(sealed.JSON())
//
// # Verifying one
//
// A [Verifier] takes bytes, parses them once, runs seven steps and writes a
// [Report]. The [Verdict] has three values, and they are never blurred:
//
//	verified   everything that was asked for was positively shown
//	refuted    something is false or malformed; the report says which, where,
//	           what was stated and what was computed
//	undecided  evidence is missing: no signature, an unknown key
//
// The steps are parse, schema, hash, link, batch, signatures and redactions.
// Each is passed, failed, not checked or not applicable, and what was not
// checked is always listed. Only parse, schema, hash and signatures must pass
// for a verified receipt; a strict policy also wants every applicable step.
//
// # What a signature is
//
// A signature is made over the 71 ASCII bytes of chain.receipt_hash, prefix
// included. A receipt key signs nothing else, but envelopes around whole receipts
// (package attest). Which key may speak for which issuer comes from the [Trust] that the caller gives, never from the receipt;
// package keys reads it from a JWK Set file. key_id, algorithm and signed_at of
// an entry lie outside the hash and are not authenticated, except inside a JWS.
//
// # What may be brought beside a receipt
//
// [Verifier.With] takes [Evidence]: proofs that receipts are in the tree of a
// checkpoint, batches, and files to look up by digest. The checkpoints are opened
// once, with the log and witness keys of a [LogTrust]. A checkpoint whose log key
// is the issuer's own stands for a signature; any other shows inclusion, not
// authorship. A witness's cosignature tells how old a receipt is, which lets it
// outlive the theft of its issuer's key.
//
// # Purity
//
// The package does no input or output and reads no clock: bytes, times and keys
// are parameters. A receipt that verified with any released version verifies with
// all later ones.
package receipt
