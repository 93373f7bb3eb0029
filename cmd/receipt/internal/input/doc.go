// Package input finds and reads the arguments of commands: files, directories, lists, stdin,
// PATH:N, disclosures, ledgers, and heads that are given as a hash, a receipt, or an earlier
// report.
package input
