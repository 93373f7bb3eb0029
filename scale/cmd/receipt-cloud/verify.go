package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/object"
	"github.com/receiptkit/receiptkit/scale/terms"
)

type verifyFlags struct {
	terms.Flags
	format, tempDir      string
	long                 bool
	unordered, mergeable bool
	jobs                 int
}

func newVerify(s *surroundings) *cobra.Command {
	var o verifyFlags
	cmd := &cobra.Command{
		Use:   "verify ADDRESS…",
		Short: "say what is true, what is false and what was not checked of receipts",
		Long: `Verify receipts in object storage: s3://BUCKET/KEY, gs://, azblob:// and file://.
A key that ends in a slash stands for all below it, and * for part of a segment.
What follows a question mark is for the storage, such as ?region=eu-central-1.

The receipts of several objects join by their links, in whatever order, and so do
those of one with --unordered. Objects are then read twice, and so they are with
--checkpoint: the second time in the version of the first.

Exit codes: 0 verified, 1 something is false or malformed, 2 something could not
be read or run as asked, 3 evidence is missing.

Trusted keys come from --keys, else $RECEIPT_KEYS: a JWK Set.`,
		Example: `  receipt-cloud verify --keys keys.json 's3://lake/receipts/2026/?region=eu-central-1'
  receipt-cloud verify --integrity-only --format json gs://lake/day.jsonl.zst`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no addresses: specify s3://BUCKET/KEY, gs://, azblob://, or file://")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.verify(cmd.Context(), s, args) },
	}

	f := cmd.Flags()
	f.SortFlags = false
	o.Flags.Register(f)
	f.StringVarP(&o.format, "format", "f", "text", "`FORMAT` of the results: text, json, or ndjson")
	f.BoolVar(&o.long, "long", false, fmt.Sprintf("allow zstd windows up to %d MiB", unpack.MaxLongWindow>>20))
	f.BoolVar(&o.unordered, "unordered", false, "objects are in no order: join receipts only by their links")
	f.BoolVar(&o.mergeable, "mergeable", false, "write a report that receipt merge accepts for any number of receipts; otherwise up to 65,536")
	f.IntVar(&o.jobs, "jobs", 0, "verify `N` receipts at a time; 0: one per processor")
	f.StringVar(&o.tempDir, "temp-dir", "", "`DIR` for data that exceeds memory; default: the system's temporary directory")
	return cmd
}

func (o *verifyFlags) verify(ctx context.Context, s *surroundings, args []string) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	out, err := o.printer(s.out, &options)
	if err != nil {
		return err
	}
	asked, err := o.Flags.Read(s.getenv, s.now())
	if err != nil {
		return err
	}
	asked.Policy.NoInputDigest = o.format == "text"
	verifier, keys, err := asked.Verifier()
	if err != nil {
		return err
	}

	var addresses []object.Address
	for _, arg := range args {
		a, err := object.Parse(arg)
		if err != nil {
			return err
		}
		addresses = append(addresses, a)
	}
	listing, err := object.List(ctx, addresses)
	if err != nil {
		return err
	}
	defer listing.Close()

	started := s.now()
	run := stream.VerifyFiles(ctx, verifier, listing.Sources, options)
	for rep := range run.Reports() {
		if err := out.report(rep); err != nil {
			return err
		}
	}
	sum, err := run.Summary()
	var incomplete *stream.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		return changed(err)
	}

	for _, name := range listing.Skipped {
		if sum.SkippedCount++; len(sum.Skipped) < stream.MaxNotices {
			sum.Skipped = append(sum.Skipped, stream.Notice{Source: name, Detail: "not a receipt"})
		}
	}
	sum.Tool, sum.Keys = "receipt-cloud", keys
	sum.Started, sum.Finished = receipt.At(started), receipt.At(s.now())
	if err := out.end(sum); err != nil {
		return err
	}
	if code := terms.Exit(sum); code != terms.ExitVerified {
		return exitCode(code)
	}
	return nil
}

// changed explains why a run has no result.
func changed(err error) error {
	if errors.Is(err, stream.ErrChanged) {
		return fmt.Errorf("no verdict, because an object was replaced or deleted while it was read: run again over a prefix to which nobody writes: %w", err)
	}
	return err
}

func (o *verifyFlags) options() (stream.Options, error) {
	if o.jobs < 0 {
		return stream.Options{}, fmt.Errorf("invalid --jobs %d: expected 0 or more", o.jobs)
	}
	options, err := o.Continuity()
	options.Unordered, options.Summing.Mergeable = o.unordered, o.mergeable
	options.Jobs, options.Long, options.TempDir = o.jobs, o.long, cmp.Or(o.tempDir, os.TempDir())
	return options, err
}
