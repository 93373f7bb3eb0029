// Package input finds and reads the arguments of commands: files, directories, lists,
// stdin, PATH:N, disclosures, ledgers, and the heads in a hash, a receipt, or an earlier
// report.
package input
