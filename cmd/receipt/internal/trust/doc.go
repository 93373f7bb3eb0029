// Package trust reads whom and what a run relies on: the file of trusted keys, the
// policy, private keys to sign with, and the evidence beside receipts: checkpoints,
// proofs, batches, files.
package trust
