// Package corpus generates receipts for measurements and tests. They are signed and linked, and
// the same seed gives the same bytes on every machine.
//
// # Content
//
// A full receipt has 2.7 to 33 KB, 11 KB on average, most of it tool calls and digests, as in
// receipts of coding agents. A minimal receipt has 1.3 KB and contains little more than the
// required members. All receipts match the schema and verify without a warning. Receipt n belongs
// to stream (n−1) mod Streams, and each stream is a chain from its first receipt on.
//
// # Keys
//
// Eight Ed25519 keys sign for one issuer. Each receipt is signed with one of them, which
// issuer.public_key_id names. Anyone can derive the private keys from the seed, so no real key
// set may trust them.
//
// # Reproducibility
//
// Receipt n is generated from its own random numbers with the seed (Seed, n), and the integers of
// math/rand/v2 are the same everywhere. Times are counted from a fixed instant. Results of
// parallel work are put back into order before they are linked, so the number of processors does
// not affect the bytes.
package corpus
