// Package oracle compares package attest with another implementation. It checks that sigstore-go
// verifies attestations that package attest writes, that both reject changed attestations, and that
// package attest reads attestations that sigstore-go writes. It is a separate module, so that
// importers of the library do not download sigstore-go.
package oracle
