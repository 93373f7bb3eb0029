package verify

import (
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// attestFlags specifies the required subjects of attestations.
type attestFlags struct {
	commit   string
	subjects []string
}

func (f *attestFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.commit, "commit", "", "require an attestation for this git commit (`SHA`)")
	flags.StringArrayVar(&f.subjects, "subject", nil, "require an attestation for sha256:HEX or gitCommit:HEX; repeatable (`DIGEST`)")
}

// apply makes the run accept attestations in place of receipts.
func (f *attestFlags) apply(v *receipt.Verifier, file *trust.KeyFile, options *stream.Options) error {
	asked, err := f.asked()
	if err != nil {
		return err
	}

	policy := v.Policy()
	if policy.IntegrityOnly {
		if len(asked) > 0 {
			return cli.Usage("", "--integrity-only checks no signatures, so it excludes --commit and --subject")
		}
		options.Unwrap = attest.NewOpener(nil, policy).Unwrap
		return nil
	}

	// Unwrap checks the required subjects, and the summary records them.
	for _, s := range asked {
		options.Summing.Subjects = append(options.Summing.Subjects, s.String())
	}
	options.Unwrap = attest.NewOpener(file.Set, policy, asked...).Unwrap
	return nil
}

func (f *attestFlags) asked() (list []attest.Subject, err error) {
	if f.commit != "" {
		if !attest.IsCommit(f.commit) {
			return nil, cli.Usage("print it with git rev-parse HEAD", "--commit must be the full name of a commit, 40 or 64 lowercase hexadecimal digits, found %.80q", f.commit)
		}
		list = append(list, attest.Subject{Algorithm: attest.GitCommit, Digest: f.commit})
	}

	for _, text := range f.subjects {
		s, err := attest.ParseSubject(text)
		if err != nil {
			return nil, cli.Usage("", "--subject must be sha256: and 64, or gitCommit: and 40 or 64, lowercase hexadecimal digits, found %.80q", text)
		}
		list = append(list, s)
	}
	return list, nil
}
