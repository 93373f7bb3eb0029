// Package issue contains the commands that lead from a log to a sealed receipt: record,
// redact, canon, seal, sign, attest, and archive.
package issue
