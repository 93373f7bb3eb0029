// Package input finds and reads what verbs are given: files, folders, lists, stdin,
// PATH:N, what a hash, a receipt or an earlier report says of a stream, disclosures,
// and ledgers.
package input
