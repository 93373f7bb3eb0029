// Package cli is what every verb of the command stands on: what it takes from outside
// (Env), how it ends (exit codes, failures with a hint), how foreign text is written,
// and how whole files are. It knows nothing of receipts beyond their verdicts.
package cli
