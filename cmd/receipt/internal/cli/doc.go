// Package cli contains what all commands share: their environment (Env), exit codes and
// failures with a hint, flags, the escaping of foreign text, and the writing of files. Of
// receipts, it knows only verdicts, keys, and times.
package cli
