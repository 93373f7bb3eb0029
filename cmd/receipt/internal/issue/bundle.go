package issue

import (
	"cmp"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// NewBundle returns the command "receipt bundle".
func NewBundle(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "bundle COMMAND",
		Short: "package one agent run in a file that can be shared",
		Long:  `Package one run of an agent in a session bundle.`,
		Example: `  receipt bundle export run.json -o bundle.json
  receipt bundle validate bundle.json`,
	}, newBundleExport(e), newBundleValidate(e), newBundleSanitize(e), newBundleImport(e), newBundleDraft(e))
}

// makeBundle writes the result of a command to stdout or to a file, which is created completely or
// not at all. Only the owner can read the file, even if the bundle is sanitized, until the owner
// changes its mode.
func makeBundle(e *cli.Env, doing string, to *cli.OutputFlags, text func() (*bundle.Text, error)) error {
	if err := to.Check(); err != nil {
		return err
	}

	defer e.Progress(doing).End()
	t, err := text()
	if err != nil {
		return err
	}
	return to.Stream(e, 0o600, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	})
}

// markerFlags specifies how strings that look like secrets are handled.
type markerFlags struct{ allow, strict bool }

func (o *markerFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.allow, "allow-unsafe-secret-markers", false, "do not search for secrets")
	f.BoolVar(&o.strict, "strict", false, "also refuse strings that only a heuristic matches")
}

func (o *markerFlags) markers() (bundle.Markers, error) {
	switch {
	case o.allow && o.strict:
		return 0, cli.Usage("", "--strict and --allow-unsafe-secret-markers exclude each other")
	case o.allow:
		return bundle.AllowMarkers, nil
	case o.strict:
		return bundle.RefuseHeuristics, nil
	}
	return bundle.RefuseMarkers, nil
}

// readBundle reads and parses a bundle.
func readBundle(e *cli.Env, path string) (*bundle.Bundle, error) {
	data, err := input.ReadBounded(e, path, bundle.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Parse(data)
	if err != nil {
		return nil, bundleFailure(path, aBundle, err)
	}
	return b, nil
}

// bundleFailure describes why a file was not accepted. The message contains no text from the file.
func bundleFailure(path, what string, err error) error {
	name := cli.SourceName(path)
	var wrong *bundle.Error
	var option *bundle.OptionError
	var invalid *receipt.InvalidError
	switch {
	case errors.As(err, &wrong):
		return bundleRefusal(name, what, wrong)
	case errors.As(err, &option):
		return cli.Usage("", "%q: %s %s", name, bundleFlag(option.Name), option.Detail)
	case errors.As(err, &invalid):
		return SealFailure(path, err)
	}
	return err
}

func bundleRefusal(name, what string, wrong *bundle.Error) error {
	switch wrong.Kind {
	case bundle.TooLarge, bundle.WeakerMode:
		return cli.Usage("", "%q: invalid %s: %w", name, what, wrong)
	case bundle.NoRunRecord:
		return cli.Undecided("export the run again, or ask for its run record", "%q: %w", name, wrong)
	case bundle.NotEnded:
		return cli.Undecided("create the draft after the run has ended", "%q: %w", name, wrong)
	}

	// The hint suggests the next step, which is to remove a secret, to use the command for this
	// kind of file, or to check the format.
	hint := ""
	switch f := input.KindOfFile(name); {
	case wrong.Kind == bundle.UnsafeSecretMarker:
		hint = "remove it with receipt bundle sanitize, and revoke any secret that was already shared"
	case f.Kind != kind.Unknown && f.Kind != kind.Bundle && f.Kind != kind.Run, f.Kind == kind.Run && what == aBundle, f.Kind == kind.Bundle && what == aRun:
		hint = "it is " + f.What + ": " + input.Next(f, name)
	case what == aBundle:
		hint = "print the form with receipt schema session-bundle"
	}
	return cli.Refuted(hint, "%q: invalid %s: %w", name, what, wrong)
}

// Expected contents of a file, for messages.
const aBundle, aRun = "session bundle", "run record"

// stays is like bundleFailure, but for commands that remove secrets. Such a command rejects a
// secret only if it is in the name of a member, because it cannot replace the name.
func stays(path, what string, err error) error {
	if wrong := (*bundle.Error)(nil); errors.As(err, &wrong) && wrong.Kind == bundle.UnsafeSecretMarker {
		return cli.Refuted("rename the member, or omit the object", "%q: %w", cli.SourceName(path), wrong)
	}
	return bundleFailure(path, what, err)
}

// bundleFlag returns the flag that sets an option, or the name of the option if there is no flag.
func bundleFlag(option string) string {
	flags := map[string]string{
		"Mode": "--mode", "Strict": "--strict", "CreatedAt": "--created-at", "Issuer.ID": "--issuer", "IssuedAt": "--issued-at",
	}
	return cmp.Or(flags[option], "bundle: options: "+option)
}
