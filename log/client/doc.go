// Package client sends requests to logs of receipt hashes and to witnesses.
//
// Nothing in an answer is believed: a proof is checked against a policy, and a cosignature against
// the key of its witness.
package client
