package verify

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

type replayRun struct {
	planFlags
	replay.Run
	hash   string
	output cli.OutputFlags
}

func newReplayRun(e *cli.Env) *cobra.Command {
	var o replayRun
	cmd := &cobra.Command{
		Use:   "run LOG",
		Short: "write the recorded events as the log of a replay",
		Long: `Write the log of a replay: the events of a task, with the substitutions of the
request. Values of receipt_only overrides are represented by their digests, and
secrets are omitted. receipt record creates the draft.`,
		Example: `  receipt replay run log.jsonl --request request.json --task task_2 -o replayed.jsonl
  receipt record replayed.jsonl --issuer my_harness`,
		Args: cli.ExactArgs(1, "one log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.TaskID == "" {
				return cli.Usage("", "missing --task ID of the replay")
			}
			if o.hash != "" {
				d, err := canon.ParseDigest(o.hash)
				if err != nil {
					return cli.Usage("", "--source-receipt-hash %q: %w", o.hash, err)
				}
				o.ReceiptHash = d
			}

			p, done, err := o.plan(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer done()

			// If a digest is incorrect, the request was made for other values, so no log is
			// written.
			if tellMismatches(e, p) {
				return cli.ExitWith(cli.ExitRefuted)
			}
			if err := o.write(e, args[0], p); err != nil {
				return err
			}
			for _, key := range p.Unmatched() {
				e.Note("override.%s replaced nothing: nothing in the log has this key", key)
			}
			return nil
		},
	}

	f := cmd.Flags()
	o.register(f, "source-task")
	f.StringVar(&o.TaskID, "task", "", "task ID of the replay (`ID`)")
	f.BoolVar(&o.Remap, "remap", false, "assign new IDs and sequences to events")
	f.StringVar(&o.LogURI, "log-uri", "", "URI of the source log (`URI`)")
	f.StringVar(&o.hash, "source-receipt-hash", "", "hash of the source's receipt (`HASH`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

// write writes the events to stdout or to a file, which is created completely or not at all. Only
// the owner can read the file, because it contains the recorded answers.
func (o *replayRun) write(e *cli.Env, path string, p *replay.Plan) error {
	return o.output.Stream(e, 0o600, func(w io.Writer) error {
		for line, err := range p.Events(o.Run) {
			if err != nil {
				return replayFailure(path, err)
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}
