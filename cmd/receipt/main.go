// Command receipt creates and verifies receipts of AI agent tasks.
//
// Results are written to stdout, messages to stderr. The exit code is 0 if every requirement was
// checked and met, 1 if something is invalid or malformed, 2 if something could not be read or the
// command could not run as requested, and 3 if evidence is missing.
package main

import "github.com/receiptkit/receiptkit/cmd/receipt/commands"

//go:generate go run . explain --markdown -o ../../docs/codes.md --force
//go:generate go run . record --markdown -o ../../docs/record.md --force
//go:generate go run . schema event --markdown -o ../../docs/events.md --force

func main() { commands.Main() }
