package root

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// rare lists the flags that the help prints last.
var rare = []string{
	"files-from", "input", "jobs", "long", "mergeable", "plain", "temp-dir", // of inputs
	"key-timeout",                                                                          // of keys
	"frames", "issuer-kind", "issuer-name", "log-uri", "markdown", "persona", "policy-ref", // of drafts
	"subject", "workspace-root",
}

// A described flag has the same meaning in several commands. The flag is described only in the help
// of its home, which is one of these commands. The help of the other commands refers to the home.
// Flags with the same name but a different usage are different flags.
type described struct {
	home, name, usage string
}

// shared contains the flags that are described once, with the beginning of their usage.
var shared = []described{
	{"receipt verify", "files-from", ""},
	{"receipt verify", "input", ""},
	{"receipt verify", "jobs", ""},
	{"receipt verify", "long", ""},
	{"receipt verify", "plain", ""},
	{"receipt verify", "temp-dir", ""},
	{"receipt verify", "integrity-only", ""},
	{"receipt verify", "at", "time at which keys are judged"},
	{"receipt verify", "issuer", "required issuer"},
	{"receipt verify", "policy", ""},
	{"receipt verify", "strict", "report undecided"},
	{"receipt verify", "expect-count", ""},
	{"receipt verify", "expect-head", "hash in which"},
	{"receipt replay plan", "artifacts", "artifacts of"},
	{"receipt replay plan", "request", ""},
	{"receipt replay plan", "task", "task of the log"},
	{"receipt sign", "key-id", "ID of a key that is not in a JWK"},
	{"receipt sign", "key-timeout", ""},
	{"receipt keys generate", "any-issuer", ""},
	{"receipt keys generate", "origin", "name of the log whose"},
	{"receipt keys generate", "role", ""},
	{"receipt bundle validate", "allow-unsafe-secret-markers", ""},
	{"receipt bundle validate", "strict", "also refuse"},
	{"receipt ledger export", "before", "only receipts"},
	{"receipt ledger export", "from", "only receipts"},
	{"receipt ledger export", "stream", "only the stream"},
	{"receipt ledger export", "until", "only receipts"},
	{"receipt record", "issuer-kind", ""},
	{"receipt record", "issuer-name", ""},
	{"receipt record", "key-id", "require a signature"},
	{"receipt record", "persona", ""},
	{"receipt record", "session", "session"},
	{"receipt record", "tenant", ""},
	{"receipt record", "tier", ""},
	{"receipt record", "workspace", ""},
}

// home returns the command whose help describes the given flag of cmd. It returns "" if the help of
// cmd itself describes the flag.
func home(cmd *cobra.Command, f *pflag.Flag) string {
	for _, d := range shared {
		if d.name == f.Name && d.home != cmd.CommandPath() && strings.HasPrefix(f.Usage, d.usage) {
			return d.home
		}
	}
	return ""
}

// advanced lists the rare flags of a command. It also lists the flags that are described in the
// help of other commands, grouped by these commands.
func advanced(flags *pflag.FlagSet, elsewhere map[string][]string) string {
	if !flags.HasFlags() && len(elsewhere) == 0 {
		return ""
	}

	text := "\nAdvanced:\n" + flags.FlagUsages()
	for _, d := range shared {
		if names := elsewhere[d.home]; names != nil {
			text += "  see " + strings.TrimPrefix(d.home, "receipt ") + ": " + strings.Join(names, ", ") + "\n"
			delete(elsewhere, d.home)
		}
	}
	return text
}
