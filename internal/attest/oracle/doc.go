// Package oracle compares package attest with another implementation: sigstore-go verifies the
// attestations that package attest writes, neither verifies changed attestations, and package
// attest reads those that sigstore-go writes. It is a separate module, so that importers of the
// library do not download sigstore-go.
package oracle
