package issue

import (
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/redact"
)

// writeRedacted writes a redacted draft and what was withheld from it. Both are
// on the disk, under names of their own, before either gets its name: first the
// disclosures, without which the draft is worth less, then the draft. Killed in
// between, the disclosures are there alone; no file is ever there in part.
func writeRedacted(e *cli.Env, input string, o *redactOptions, result *redact.Result) error {
	draft := append(result.Draft, '\n')
	if o.disclosures == "" {
		return cli.WriteOutput(e, o.output, draft, 0o644, o.force)
	}

	toStdout := o.output == "" || o.output == cli.StdinName
	switch {
	case o.disclosures == cli.StdinName:
		return cli.Usage("", "--disclosures takes a file: withheld values belong on no terminal")
	case !toStdout && cli.SameFile(o.disclosures, o.output):
		return cli.Usage("the draft is for everybody, the disclosures for nobody", "--disclosures and --output name the same file, %q", o.output)
	case cli.SameFile(o.disclosures, input):
		return cli.Usage("", "--disclosures names the draft itself, %q", input)
	}

	secret, err := cli.PrepareFile(o.disclosures, result.Disclosures.Marshal(), 0o600, o.force)
	if err != nil {
		return err
	}
	defer secret.Discard()

	if toStdout { // whoever reads it may have all of it when writing fails: the disclosures stay
		if err := secret.Commit(); err != nil {
			return err
		}
		return cli.WriteOutput(e, o.output, draft, 0o644, o.force)
	}

	public, err := cli.PrepareFile(o.output, draft, 0o644, o.force)
	if err != nil {
		return err
	}
	defer public.Discard()

	// When the draft cannot have its name, the disclosures lose theirs.
	if err := secret.Commit(); err != nil {
		return err
	}
	if err := public.Commit(); err != nil {
		secret.Withdraw()
		return err
	}

	return nil
}
