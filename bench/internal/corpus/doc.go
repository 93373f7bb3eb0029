// Package corpus makes up receipts to measure and to test with: signed, linked,
// and the same bytes for the same seed on every machine.
//
// # What is in one
//
// A full receipt has 2.7 to 33 KB, 11 KB in the mean, most of it tool calls and
// digests, as those of coding agents have; a minimal one has 1.3 KB, little more
// than what the format demands. All fit the schema, none gives a verifier cause
// for a warning. Receipt n belongs to stream (n−1) mod Streams, and each stream is
// a chain from its first receipt on.
//
// # Keys
//
// Eight Ed25519 keys sign for one issuer, one of them for each receipt, named by
// issuer.public_key_id. Anyone can derive their private halves from the seed, so
// no real key set may ever trust them.
//
// # Why the bytes are the same
//
// Receipt n is made of its own random numbers, seeded with (Seed, n), and the
// integers of math/rand/v2 are the same everywhere. Times are counted from a
// fixed instant. Whatever runs in parallel is put back into order before it is
// linked, so the number of processors does not show.
package corpus
