// Package client sends requests to logs of receipt hashes and to witnesses.
//
// Responses are not trusted. A proof is checked against a policy, and a cosignature against the key
// of its witness.
package client
