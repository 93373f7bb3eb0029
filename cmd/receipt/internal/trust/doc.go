// Package trust reads the inputs that a verification relies on: the trusted keys, the policy, and
// the evidence. Evidence consists of checkpoints, proofs, batches, disclosures, and files. The
// package also defines the flags for a signing key.
package trust
