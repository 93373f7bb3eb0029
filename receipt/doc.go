// Package receipt creates and verifies receipts in the format receipt-2026-04-25.
//
// A receipt is a JSON object that states what an AI agent did in one task: who issued the receipt,
// which model was used, what the task cost, and which approvals and side effects it had. Package
// chain defines which bytes the hash of a receipt covers. This package implements the rest of the
// format.
//
// # Creating a receipt
//
// A producer creates a [Draft]. [Seal] links the draft to the head of its stream and computes the
// hash, and [Sealed.Sign] adds signatures of the hash. The types enforce this order, because a
// Sealed has no fields that could be edited.
//
//	sealed, err := receipt.Seal(&draft, head) // the zero head: first of its stream
//	sealed, err = sealed.Sign(ctx, signer)
//	os.Stdout.Write(sealed.JSON())
//
// # Verifying a receipt
//
// A [Verifier] parses the bytes once, performs seven steps, and creates a [Report]. A [Verdict] has
// one of three values:
//
//	verified   every requirement was checked and met
//	refuted    something is invalid or malformed; the report states the location
//	           and the stated and computed values
//	undecided  evidence is missing, such as a signature or a trusted key
//
// The steps are parse, schema, hash, link, batch, signatures, and redactions. The status of each
// step is passed, failed, not checked, or not applicable, and the report always lists what was not
// checked. For a verified receipt, no step has failed, and the parse, schema, hash, and signatures
// steps have passed. The exception is a policy that requires only integrity: signatures are then
// not checked, and the scope of the report is "integrity". A strict policy requires every step that
// is applicable.
//
// # Signatures
//
// A signature covers the 71 ASCII bytes of chain.receipt_hash, including its prefix. The key of an
// issuer also signs DSSE envelopes around entire receipts (package internal/attest) and around
// stream statements (package internal/statement). The signed bytes of an envelope begin with
// "DSSEv1 ", so they cannot be confused with a receipt hash. The caller's [Trust] determines which
// key may sign for which issuer; the receipt never determines this. Package keys reads a Trust from
// a JWK Set file. The hash does not cover the members key_id, algorithm, and signed_at of a
// signature entry. Except inside a JWS, these members are not authenticated at all.
//
// # Evidence
//
// [Verifier.With] accepts [Evidence]: proofs that receipts are in the tree of a checkpoint,
// batches, disclosures, and files that are looked up by digest. Checkpoints are opened once, using
// the log and witness keys of a [LogTrust]. A checkpoint counts as a signature if the log key that
// signed it is also a key of the issuer. Any other checkpoint shows that the receipt was included,
// but not who issued it. A witness's cosignature shows the age of a receipt, so the receipt remains
// valid even if the issuer's key is stolen later.
//
// # Purity
//
// This package performs no input or output and does not read the clock: bytes, times, and keys are
// parameters. A receipt that any released version verified is also verified by all later versions.
package receipt
