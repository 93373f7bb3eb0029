// Package issue holds the verbs on the way from what happened to a sealed receipt:
// record, redact, disclose, canon, hash, seal, sign and archive.
package issue
