// Package aggregate sums up values that receipts state over time: the costs of tasks, the files
// that they changed, the data that they sent, and the tools that they called. The verification page
// and the printed report draw their charts from these sums.
//
// Only receipts that match the schema and their stated hash are included, because altered content
// is not evidence of anything. There are separate sums for receipts whose signatures are verified,
// and for all other receipts (undecided, refuted for another reason, or checked only for
// integrity). The sums contain only values that the issuers state.
//
// # Versions
//
// If a receipt supersedes another receipt of its issuer (metadata.supersedes), only the newest
// version is in the sums. Anyone can write an issuer's name, so a receipt without a confirmed
// signer supersedes only other receipts without a confirmed signer. A superseded receipt may be
// read before its successor. To subtract it later, an aggregate stores the contribution of each
// receipt, for up to [maxSeen] receipts and 64 MiB. Beyond these limits, the older version stays in
// the sums, and the newer version is left out. The JSON form contains the number of such receipts.
//
// # Exactness
//
// Amounts are added as decimals, digit by digit, from the text of numbers in canonical JSON (RFC
// 8785), so the sum of 0.1 and 0.2 is 0.3. Each currency has its own sums; nothing is converted.
//
// # Bounds
//
// For any number of receipts, an aggregate stores at most [maxBins] bins, [maxCurrencies]
// currencies, and [maxSeen] hashes. Bins are initially hours (UTC). If there are too many, they are
// merged into days, months, years, or centuries. The result does not depend on the order of the
// receipts, unless a limit on currencies, names, or hashes is exceeded; the JSON form then contains
// the number of affected receipts or entries. A superseded receipt that was subtracted still counts
// toward the limits on names and bins.
package aggregate
