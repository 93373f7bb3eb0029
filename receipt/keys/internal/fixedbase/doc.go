// Package fixedbase checks Ed25519 signatures (RFC 8032 section 5.1.7) with tables of multiples of
// two points that do not change: the base point B and a public key A. It accepts exactly the
// signatures that crypto/ed25519 accepts.
//
// # Method
//
// A signature (R, S) of a message M is valid if R is equal to the encoding of
//
//	[S]B − [k]A   with k = SHA-512(R, A, M), both numbers below the group order L
//
// Both products are computed as sums of stored points, without doubling any point. A number s less
// than L is written as signed digits in windows of w bits (fixed-base windowing; Menezes, van
// Oorschot, Vanstone, Handbook of Applied Cryptography, section 14.6.3):
//
//	s = Σ d(i)·2^(w·i)   with −2^(w−1) < d(i) ≤ 2^(w−1)
//
// Row i of a table contains the multiples of 2^(w·i) times the point by 1 to 2^(w−1). Each positive
// digit then takes one addition, each negative digit takes one subtraction, and zero takes nothing.
// The last digit is what remains of the number, and it is never negative; see [table].
//
// # Correctness
//
// Every step is an operation on points and scalars in filippo.io/edwards25519. The addition in that
// package is complete: it is correct for all points, including points of low order. The code in
// package fixedbase only converts numbers to digits. The sum of the digits is s itself and not only
// s modulo L, so the result is the same as that of crypto/ed25519 even if A has a component of low
// order. The other steps are the same as in crypto/ed25519: the signature is 64 bytes long; S is
// less than L; k is reduced modulo L; A is hashed exactly as it was given; the result is encoded,
// and its bytes are compared with R, which is never decoded.
//
// None of the values are secret, so operations need not take constant time.
//
// # Cost
//
// A point takes 160 bytes. The table of B takes [BaseBytes] of memory, and the table of each key
// takes [KeyBytes]. A check adds 51 points, and allocates no memory.
package fixedbase
