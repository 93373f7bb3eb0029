package main

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// group sorts the verbs of the help by what they are for.
func group(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		verbs     []string
	}{
		{"check", "Check receipts:", []string{"verify", "show", "diff", "merge", "replay"}},
		{"make", "Make receipts:", []string{"record", "redact", "seal", "sign", "attest", "disclose", "bundle"}},
		{"keep", "Keep many of them:", []string{"ledger", "batch", "archive", "serve"}},
		{"keys", "Say whom to trust:", []string{"keys"}},
		{"bytes", "Look at bytes:", []string{"canon", "hash"}},
		{"about", "Learn more:", []string{"explain", "schema", "help", "man", "completion", "version"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range root.Commands() {
			for _, name := range g.verbs {
				if c.Name() == name {
					c.GroupID = g.id
				}
			}
		}
	}
	root.SetHelpCommandGroupID("about")
}

// completeFlags tells shells the values of flags that take one of a few words.
func completeFlags(cmd *cobra.Command) {
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"color", colors()},
		{"progress", colors()},
		{"report-only", []string{"all", "failures", "summary"}},
		{"input", []string{"json", "lines", "cbor", "cborseq"}},
		{"alg", []string{"ed25519", "EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}},
		{"role", []string{"issuer", "witness", "checkpoint"}},
		{"reason", []string{"superseded", "compromised"}},
		{"issuer-kind", []string{"harness", "host", "agent", "connector"}},
		{"tier", []string{"shadow", "suggest", "act_with_approval", "act_auto"}},
		{"rules", []string{"default", "upstream", "strict"}},
		{"mode", []string{"sanitized", "replay_only"}},
		{"format", formatsOf(cmd)},
		{"each", []string{"task", "session"}},
		{"log-format", []string{"text", "json", "auto"}},
		{"from", sourcesOf(cmd)},
	} {
		if cmd.LocalFlags().Lookup(f.name) != nil && len(f.values) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.name, cobra.FixedCompletions(f.values, cobra.ShellCompDirectiveDefault)) // refused only when given twice
		}
	}

	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// formatsOf are the values of a verb's --format.
func formatsOf(cmd *cobra.Command) []string {
	if cmd.Name() == "verify" {
		return []string{"text", "json", "ndjson", "junit", "github"}
	}
	return []string{"text", "json"}
}

// sourcesOf are the values of the --from of record; that of other verbs is a time or a file.
func sourcesOf(cmd *cobra.Command) []string {
	if cmd.Name() != "record" {
		return nil
	}
	return source.Names()
}

// versionText is what version and --version print.
func versionText() string { return cli.ToolName() + "\n" + platform() }
