// Package receipt creates and verifies receipts in the format receipt-2026-04-25.
//
// A receipt is a JSON object that states what an AI agent did in one task: who issued the receipt,
// which model was used, what the task cost, and which approvals and side effects it had. Package
// chain defines which bytes the hash of a receipt covers. This package implements the complete
// envelope.
//
// # Creating a receipt
//
// A producer fills in a [Draft]. [Seal] links it to the head of its stream and computes its
// hash, and [Sealed.Sign] adds signatures of the hash. The types allow no other order: a Sealed
// has no fields to edit.
//
//	sealed, err := receipt.Seal(&draft, head) // the zero head: first of its stream
//	sealed, err = sealed.Sign(ctx, signer)
//	os.Stdout.Write(sealed.JSON())
//
// # Verifying a receipt
//
// A [Verifier] parses the bytes once, runs seven steps, and writes a [Report]. A [Verdict] has
// three distinct values:
//
//	verified   every requirement was checked and met
//	refuted    something is invalid or malformed; the report states the location
//	           and the stated and computed values
//	undecided  evidence is missing, such as a signature or a trusted key
//
// The steps are parse, schema, hash, link, batch, signatures, and redactions. Each step is passed,
// failed, not checked, or not applicable, and a report always lists what was not checked. A verified
// receipt has failed no step, and has passed parse, schema, hash, and signatures. The exception is a
// policy that requires only integrity: signatures are not checked, and the report's scope is
// integrity. A strict policy requires every applicable step.
//
// # Signatures
//
// A signature covers the 71 ASCII bytes of chain.receipt_hash, including the prefix. An issuer's key
// also signs DSSE envelopes around entire receipts (package internal/attest) and around stream
// statements (package internal/statement). The signed bytes of these envelopes begin with "DSSEv1 ",
// so they are never a receipt hash. The caller's [Trust] determines which key may speak for which
// issuer; the receipt never determines this. Package keys reads a Trust from a JWK Set file. The
// members key_id, algorithm, and signed_at of an entry are outside the hash and, except inside a
// JWS, are not authenticated.
//
// # Evidence
//
// [Verifier.With] accepts [Evidence]: proofs that receipts are in the tree of a checkpoint,
// batches, disclosures, and files to look up by digest. Checkpoints are opened once, with the log
// and witness keys of a [LogTrust]. A checkpoint counts as a signature if its log key is also a key
// of the issuer. Any other checkpoint shows inclusion but not authorship. A witness's cosignature
// shows a receipt's age, so the receipt stays valid even if its issuer's key is stolen later.
//
// # Purity
//
// The package performs no input or output and does not read the clock: bytes, times, and keys are
// parameters. A receipt that verified with any released version also verifies with all later
// versions.
package receipt
