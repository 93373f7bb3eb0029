// Package trust reads what a verification relies on: the file of trusted keys, the policy,
// and the evidence: checkpoints, proofs, batches, disclosures, and files. It also has the
// flags for a private key to sign with.
package trust
