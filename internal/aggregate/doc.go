// Package aggregate adds up values that receipts state over time: the costs of tasks, the files
// that they changed, the data that they sent, and the tools that they called. The verification page
// and the printed report draw their charts from it.
//
// Only receipts that match the schema and their own hash count, because altered content is not
// evidence of anything. Of those, receipts that are verified with their signature and all others
// (undecided, refuted for another reason, or judged by integrity alone) are added up separately. The
// sums contain only values that the issuers state.
//
// # Versions
//
// Of a receipt and the receipts of its issuer that supersede it (metadata.supersedes), only the
// newest is in the sums. Anyone can write an issuer's name, so a receipt whose signer is not
// confirmed supersedes only other receipts of its kind. To subtract a receipt whose successor is
// read later, an aggregate keeps what each receipt added, within [maxSeen] receipts and 64 MiB.
// Beyond that, the older version stays, the newer one is left out, and the JSON form contains the
// number of those.
//
// # Exactness
//
// Amounts are added as decimals, digit by digit, from the text of a number in canonical JSON (RFC
// 8785), so 0.1 and 0.2 are 0.3. Each currency has its own sums; nothing is converted.
//
// # Bounds
//
// For any number of receipts, at most [maxBins] bins, [maxCurrencies] currencies, and [maxSeen]
// hashes are kept. Bins are hours (UTC) at first, and are joined to days, months, years, and
// centuries if there are too many. The result does not depend on the order of the receipts, except
// beyond the bounds on currencies, names, and hashes, where the JSON form contains counts. A
// superseded receipt that was subtracted still counts toward the bounds on names and bins.
package aggregate
