// Package cli contains the code that all commands share: their environment (Env), exit codes,
// failures with a hint, flags, escaping of untrusted text, writing of files, and running of
// programs. It depends on receipts only for verdicts, keys, and times.
package cli
