// Package fixedbase checks Ed25519 signatures (RFC 8032 section 5.1.7) with tables of multiples of
// two constant points: the base point B and a public key A. It accepts exactly the signatures that
// crypto/ed25519 accepts.
//
// # Method
//
// A signature (R, S) of a message M is valid if R is the encoding of
//
//	[S]B − [k]A   with k = SHA-512(R, A, M), both numbers below the group order L
//
// Both products are sums of stored points and need no doubling. A number s below L is written with
// signed digits in windows of w bits (fixed-base windowing; Menezes, van Oorschot, Vanstone,
// Handbook of Applied Cryptography, section 14.6.3):
//
//	s = Σ d(i)·2^(w·i)   with −2^(w−1) < d(i) ≤ 2^(w−1)
//
// Row i of a table contains 1 to 2^(w−1) times 2^(w·i) times the point. Each positive digit then
// costs one addition, each negative digit costs one subtraction, and zero costs nothing. The last
// digit is the remainder and is never negative; see [table].
//
// # Correctness
//
// Every step is an operation of filippo.io/edwards25519 on points and scalars. Its addition is
// complete: it has no exceptions, not even for points of low order. This package itself only
// converts numbers to digits. The digits sum to s itself, not to s modulo L, so the result equals
// that of crypto/ed25519 even if A has a low-order component. The other steps are the same as in
// crypto/ed25519: the signature has 64 bytes; S is below L; k is reduced modulo L; the hash
// includes A as given; the result is encoded and its bytes are compared with R, which is never
// decoded.
//
// No value is secret, so operations need not take constant time.
//
// # Cost
//
// A point uses 160 bytes. The tables use [BaseBytes] of memory for B and [KeyBytes] for each key. A
// check adds 51 points and allocates no memory.
package fixedbase
