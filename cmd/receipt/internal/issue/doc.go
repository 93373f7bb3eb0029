// Package issue contains the commands that create receipts, or convert them: record, redact, canon,
// seal, sign, attest, export, archive, and bundle.
package issue
