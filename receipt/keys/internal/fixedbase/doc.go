// Package fixedbase checks Ed25519 signatures (RFC 8032 section 5.1.7) with
// tables of multiples of the two points that do not change: the base point B and
// a public key A. It accepts exactly what crypto/ed25519 accepts.
//
// # How it works
//
// A signature (R, S) of a message M is valid when R is the encoding of
//
//	[S]B − [k]A   with k = SHA-512(R, A, M), both numbers below the group order L
//
// Both products are sums of stored points, without a single doubling. A number s
// below L is written with signed digits in windows of w bits (fixed-base
// windowing; Menezes, van Oorschot, Vanstone, Handbook of Applied Cryptography,
// section 14.6.3):
//
//	s = Σ d(i)·2^(w·i)   with −2^(w−1) < d(i) ≤ 2^(w−1)
//
// and row i of a table holds 1 to 2^(w−1) times 2^(w·i) times the point. Each
// digit then costs one addition, a negative one a subtraction, zero nothing. The
// last digit takes what is left and is never negative; see [table].
//
// # Why it is right
//
// Every step is an operation of filippo.io/edwards25519 on points and scalars,
// whose addition is complete: it has no exceptions, not even for points of low
// order. The only arithmetic of this package is writing a number in digits. As
// their sum is s itself, not s modulo L, the result is also that of crypto/ed25519
// when A has a component of low order. The rest follows it step by step: 64
// bytes; S below L; k reduced modulo L; the hash takes A as it was given; the
// result is encoded and its bytes compared with R, which is never decoded.
//
// Nothing here is secret, so nothing takes constant time.
//
// # What it costs
//
// A point takes 160 bytes: [BaseBytes] of memory for B, [KeyBytes] for each key.
// A check adds 51 points and allocates nothing.
package fixedbase
