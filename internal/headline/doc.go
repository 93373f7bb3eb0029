// Package headline writes the first sentence that a person reads about a receipt. The command, the
// verification page, the printed report, and the lists use it, so that they all report the same
// numbers.
//
// A number in the sentence is the number of distinct objects. Files are distinct paths, hosts are
// distinct hosts, and calls are distinct calls. The number of entries is added where it differs, as
// in "3 files changed in 10 writes". A number that the receipt states as a bound is written as a
// bound, and a member that the source did not report is not written as a number.
//
// Nothing is verified here: the sentence repeats the statements of the receipt, whether or not they
// are true. The API may still change.
package headline
