// Package input finds and reads the arguments of commands. Arguments can be files, directories,
// lists, stdin, PATH:N, disclosures, ledgers, and heads. A head can be given as a hash, a receipt,
// or an earlier report.
package input
