// Package oracle compares package attest with another implementation. It checks that sigstore-go
// verifies the attestations of package attest, that package attest reads the attestations of
// sigstore-go, and that both reject changed attestations. It is a separate module, so that
// importers of the library do not download sigstore-go.
package oracle
