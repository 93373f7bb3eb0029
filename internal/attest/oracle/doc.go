// Package oracle holds attestations to another implementation: what package attest writes
// verifies with sigstore-go, what was changed verifies with neither, and what sigstore-go
// writes is read here. It has a go.mod of its own, so that nobody who imports this module
// downloads that one.
package oracle
