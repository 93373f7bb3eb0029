// Package headline writes the first sentence that a person reads about a receipt. The command, the
// verification page, the printed report, and the lists use this package, so all of them report the
// same numbers.
//
// The numbers in the sentence count distinct objects, such as paths, hosts, and calls. The number
// of entries is added if it differs, as in "3 files changed in 10 writes". A number that the
// receipt states as a bound is written as a bound, and a value that the source did not report is
// never written as a number.
//
// The package verifies nothing: the sentence repeats the statements of the receipt, whether or not
// they are true. The API may still change.
package headline
