package verify

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type verifyOptions struct {
	trust.PolicyFlags
	continuityFlags
	trust.EvidenceFlags
	statementFlags
	attestFlags
	readFlags
	print.OutputFlags
	failFast bool
}

// readFlags specifies what is read, and how.
type readFlags struct {
	input.Flags
	tempDir string
	jobs    int
}

// A Fsck verifies an entire ledger in the same way as the command "receipt ledger fsck".
type Fsck func(ctx context.Context, e *cli.Env, o trust.PolicyFlags, address string) error

// New returns the command "receipt verify", which uses fsck to verify the default ledger.
func New(e *cli.Env, fsck Fsck) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [PATH…]",
		Short: "verify receipts, and list what was not checked",
		Long: `Verify the receipts in files, directories, and patterns, or - for stdin: JSON,
JSON lines, arrays, CBOR, CBOR sequences, and attestations, also compressed with
gzip or zstd.

In a single input, each receipt must follow its predecessor in the stream.
Several inputs are joined by their links, in any order.

Trusted keys come from --keys, else $RECEIPT_KEYS, else receipt/keys.json in the
user's configuration directory, and never from a receipt.

With several receipts, the exit code is the first of 1, 2, 3 that applies.
Without PATH and stdin, the ledger of receipt init is verified.`,
		Example: `  receipt verify --keys keys.json receipt.json
  receipt verify --integrity-only --format json receipt.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ledger := e.Defaults.Ledger; len(args) == 0 && o.FilesFrom == "" && ledger != "" && !cli.InputGiven(e) {
				if err := onlyPolicy(cmd.Flags()); err != nil {
					return err
				}
				return fsck(cmd.Context(), e, o.PolicyFlags, ledger)
			}
			return verify(cmd.Context(), e, args, &o)
		},
	}

	f := cmd.Flags()
	f.SortFlags = false // the most common flags come first
	o.PolicyFlags.Register(f)
	o.continuityFlags.register(f)
	o.EvidenceFlags.Register(f)
	o.statementFlags.register(f)
	o.attestFlags.register(f)
	o.readFlags.register(f)
	o.OutputFlags.Register(f)
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first receipt that is not verified")
	return cmd
}

// onlyPolicy returns an error if a flag is set that does not apply to a ledger.
func onlyPolicy(flags *pflag.FlagSet) (err error) {
	policy := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(trust.PolicyFlags).Register(policy)
	flags.Visit(func(f *pflag.Flag) {
		if policy.Lookup(f.Name) == nil && f.Name != "color" {
			err = cli.Usage("export receipts with receipt ledger export, and verify that file", "--%s requires PATH or stdin", f.Name)
		}
	})
	return err
}

func (o *readFlags) register(f *pflag.FlagSet) {
	o.Flags.Register(f)
	f.IntVar(&o.jobs, "jobs", 0, "number of processors (default: all) (`N`)")
	f.StringVar(&o.tempDir, "temp-dir", "", "directory for temporary files (`DIR`)")
}

func verify(ctx context.Context, e *cli.Env, paths []string, o *verifyOptions) error {
	if err := o.OutputFlags.Check(); err != nil {
		return err
	}

	options, err := o.streamOptions(e)
	if err != nil {
		return err
	}

	selected, err := o.Flags.Select(e, paths)
	if err != nil {
		return err
	}

	// The digests of inputs are computed only if a report contains them.
	o.NoInputDigest = !o.TellsDigests()
	if o.TellsRows() {
		options.Extract = rows.Extract
	}
	verifier, file, err := o.Verifier(e)
	if err != nil {
		return err
	}
	if err := o.attestFlags.apply(verifier, file, &options); err != nil {
		return err
	}
	if verifier, err = o.EvidenceFlags.Apply(e, verifier, file, &options); err != nil {
		return err
	}

	o.statementFlags.dated, o.statementFlags.stamps = verifier.Policy().Timestamp, o.EvidenceFlags.Statements
	if err := o.statementFlags.apply(e, file, len(selected.Missing) == 0, &options); err != nil {
		return err
	}

	o.seen.checkpoint, o.seen.ordered = o.Opened(), !options.Unordered && len(selected.Sources) == 1

	// The text format shows the checkpoint next to the keys.
	o.OutputFlags.Signed = o.EvidenceFlags.Signed()

	// If there is a checkpoint, or if the input is unordered, stdin must be read twice.
	remove, err := selected.SpoolStdin(ctx, o.tempDir, options.Checkpoint != nil || options.Unordered, func(passes ...string) *cli.Progress { return o.Progress(e, passes...) })
	if err != nil {
		return err
	}
	defer remove()
	return o.run(ctx, e, verifier, file, selected, options)
}

func (o *verifyOptions) streamOptions(e *cli.Env) (stream.Options, error) {
	if err := input.CheckTempDir(o.tempDir); err != nil {
		return stream.Options{}, err
	}
	o.tempDir = cmp.Or(o.tempDir, os.TempDir())
	options := stream.Options{Jobs: o.jobs, Long: o.Long, TempDir: o.tempDir}
	if o.jobs < 0 || o.jobs > cli.MaxJobs {
		return options, cli.Usage("", "--jobs must be 0 to %d, found %d", cli.MaxJobs, o.jobs)
	}

	if o.jobs > 0 {
		runtime.GOMAXPROCS(o.jobs) // this also limits the garbage collector
	}
	return options, o.continuityFlags.apply(e, &options)
}

// run verifies the selected inputs. An input that cannot be read is reported and counted, but does
// not end the run.
func (o *verifyOptions) run(ctx context.Context, e *cli.Env, v *receipt.Verifier, file *trust.KeyFile, selected *input.Selection, options stream.Options) error {
	started := e.Now()
	out, err := o.Printers(e, file, selected)
	if err != nil {
		return err
	}
	defer out.Discard()

	// Missing paths are reported before the run, and read errors after the run.
	o.Unread(e, len(selected.Missing), func(i int) error { return selected.Missing[i] })

	progress := o.Progress(e, selected.Readings("verifying", o.Checkpoint != "" || options.Unordered)...)
	defer progress.End()
	selected.Show(progress)

	run := stream.VerifyFiles(ctx, v, selected.Sources, options)
	if err := o.judge(run, out, progress); err != nil {
		return err
	}

	// If --fail-fast ended the run, the summary is incomplete.
	sum, err := run.Summary()
	if err := input.Fatal(err); err != nil {
		out.Interrupted()
		return err
	}

	o.Unread(e, len(sum.Inputs.Unreadable), func(i int) error { return input.NotRead(sum.Inputs.Unreadable[i]) })
	if sum.Receipts == 0 && len(sum.Inputs.Unreadable)+len(selected.Missing) == 0 {
		cli.Tell(e, cli.Usage("", "no receipt was found"))
	}

	// The verifier itself does not record malformed evidence, the time, or the key file.
	complete(sum, selected)
	sum.Findings = append(slices.Clip(sum.Findings), o.Findings...)
	sum.NotChecked = append(slices.Clip(sum.NotChecked), o.Missing...)
	o.statementFlags.judge(v, sum, e.Now())
	sum.Tool, sum.Started, sum.Finished = cli.ToolName(), receipt.At(started), receipt.At(e.Now())
	if file != nil {
		sum.Keys = &stream.Keys{Path: file.Path, SHA256: file.SHA256, Count: file.Set.Len()}
	}
	if err := out.End(sum); err != nil {
		return err
	}

	return cli.ExitWith(cli.SummaryExit(sum))
}

// judge prints the reports during the run.
func (o *verifyOptions) judge(run *stream.Run, out print.Printers, progress *cli.Progress) error {
	for rep := range run.Reports() {
		if err := out.Report(rep, run.Text()); err != nil {
			return err
		}
		progress.Receipts(1)
		o.seen.add(rep)
		if o.failFast && rep.Verdict != receipt.Verified {
			return nil
		}
	}
	return nil
}

// complete adds information from before the run to the summary: paths that cannot be read, and
// skipped files.
func complete(sum *stream.Summary, s *input.Selection) {
	for _, m := range s.Missing {
		sum.Inputs.Unreadable = append(sum.Inputs.Unreadable, m.Notice())
		sum.Complete = false
	}
	sum.SkippedCount += len(s.Skipped)
	sum.Skipped = append(slices.Clip(sum.Skipped), s.Skipped[:min(len(s.Skipped), stream.MaxNotices)]...)
	slices.SortFunc(sum.Skipped, func(a, b stream.Notice) int { return cmp.Compare(a.Source, b.Source) })
}
