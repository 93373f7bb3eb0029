// Package cli contains the code that all commands share: the environment (Env), exit codes,
// failures with hints, flags, and functions that escape untrusted text, write files, and run
// programs. It depends on receipts only for verdicts, keys, and times.
package cli
