package custody

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A Key signs, wherever its private half is.
type Key interface {
	// Public returns the public half. Of a key that is no file of ours nobody knows
	// its roles: it has none.
	Public() *keys.PublicKey

	// Signer signs receipts.
	Signer() *keys.Signer

	// SignCheckpoint signs a checkpoint of a log, as [keys.PrivateKey.SignCheckpoint].
	SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error)

	// Cosign cosigns one as a witness, as [keys.PrivateKey.Cosign].
	Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error)
}

// Options say how a key is opened.
type Options struct {
	ID       string        // the key id; "": the one of the file, or the one that the material makes
	Patience time.Duration // with an agent or a plugin, for each answer
}

// Open finds a key by its name.
func Open(ctx context.Context, e *cli.Env, name string, o Options) (Key, error) {
	if o.Patience <= 0 {
		return nil, cli.Usage("leave the flag out for "+Patience.String(), "--key-timeout is longer than nothing, found %s", o.Patience)
	}

	switch {
	case strings.HasPrefix(name, agentPrefix):
		return openAgent(ctx, e, name, o)
	case Elsewhere(name):
		return openPlugin(ctx, e, name, o)
	}
	return openFile(ctx, e, name, o)
}

// Elsewhere reports whether a name is of a key that is in no file. An address of the web is
// not the name of a plugin.
func Elsewhere(name string) bool {
	scheme, _, found := strings.Cut(name, pluginMark)
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "file":
		found = false
	}
	return strings.HasPrefix(name, agentPrefix) || found
}

// AddPatience adds the flag for how long a key may take.
func AddPatience(cmd *cobra.Command, patience *time.Duration) {
	cmd.Flags().DurationVar(patience, "key-timeout", Patience, "wait so `LONG` for each answer of an agent or a plugin")
}

// Patience is how long an agent or a plugin is waited for when nobody says otherwise:
// somebody may have to look for a token and touch it.
const Patience = time.Minute
