// Package cli contains what all commands share: their environment (Env), exit codes, failures with
// a hint, flags, escaping of foreign text, writing of files, and running of programs. Its only
// knowledge of receipts is about verdicts, keys, and times.
package cli
