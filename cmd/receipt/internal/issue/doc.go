// Package issue contains the commands that create or convert receipts: record, redact, canon, seal,
// sign, attest, export, archive, and bundle.
package issue
