package replays

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/event"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// New makes the verb replay.
func New(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay VERB",
		Short: "say what a replay of a task swaps, and check that it swapped no more",
		Long: `A task can be run again from its log, with named substitutions, and two honest
harnesses then write the same receipt. Nothing is run here: plan says what a request
swaps, run tells the recorded events again, check holds the receipt of a replay to
the log and the request, and compare says where the receipts of two replays differ.`,
		Example: `  receipt replay plan log.jsonl --request request.json
  receipt replay check replayed.json --log log.jsonl --request request.json --keys keys.json`,
		Args: cobra.ArbitraryArgs,
		RunE: issue.ExpectVerb,
	}

	cmd.AddCommand(newPlan(e), newRun(e), newCheck(e), newCompare(e))
	return cmd
}

// What a plan is made of.
type planFlags struct{ request, artifacts, source string }

func (o *planFlags) register(f *pflag.FlagSet, task string) {
	f.StringVar(&o.request, "request", "", "what is swapped, a JSON `FILE` (default: nothing)")
	f.StringVar(&o.artifacts, "artifacts", "", "the `DIR` of artifacts: those of overrides by their ids, recorded answers by their digests")
	f.StringVar(&o.source, task, "", "the task in a log of several: its `ID`")
}

// plan makes the plan. The log is a file, as it is read more than once; close ends that.
func (o *planFlags) plan(ctx context.Context, e *cli.Env, path string) (p *replay.Plan, close func(), err error) {
	request, err := o.read(e)
	if err != nil {
		return nil, nil, err
	}
	if path == cli.StdinName {
		return nil, nil, cli.Usage("", "the log is a file: it is read more than once")
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, nil, input.ReadError(path, err)
	}

	progress := e.Progress("replaying")
	log, err := replay.ReadLog(in, o.source)
	if err == nil {
		p, err = replay.NewPlan(ctx, log, request, o.folder())
	}
	done := func() {
		progress.End()
		in.Close()
	}
	if err != nil {
		done()
		return nil, nil, failure(path, err)
	}
	return p, done, nil
}

func (o *planFlags) read(e *cli.Env) (*replay.Request, error) {
	if o.request == "" {
		return replay.ParseRequest(nil)
	}
	data, err := input.ReadBounded(e, o.request, replay.MaxRequest+1)
	if err != nil {
		return nil, err
	}
	request, err := replay.ParseRequest(data)
	if err != nil {
		return nil, cli.Usage("receipt schema replay-request has the form", "%q: %w", cli.SourceName(o.request), err)
	}
	return request, nil
}

func (o *planFlags) folder() replay.Artifacts {
	if o.artifacts == "" {
		return nil
	}
	return replay.Files(os.DirFS(o.artifacts))
}

// failure says who has to do something.
func failure(path string, err error) error {
	var refusal *event.Error
	var limit *event.LimitError
	var request *replay.RequestError
	var missing *replay.UnavailableError
	switch {
	case errors.As(err, &refusal) && refusal.Code == event.CodeOtherTask:
		return cli.Usage("--task ID names the one that is meant", "%q: %w", path, err)
	case errors.As(err, &limit):
		return cli.Usage("", "%q: %w", path, err)
	case errors.As(err, &refusal):
		return cli.Refuted("", "%q: %w", path, err)
	case errors.Is(err, record.ErrNotEnded):
		return cli.Undecided("", "%q: %w", path, err)
	case errors.As(err, &missing):
		return cli.Undecided("", "%q: %w", path, err)
	case errors.As(err, &request):
		return cli.Usage("receipt replay plan LOG without a request lists what can be swapped", "%w", err)
	}
	return cli.Usage("", "%q: %w", path, cli.Reason(err))
}

// tellMismatches tells what the request states falsely.
func tellMismatches(e *cli.Env, p *replay.Plan) (found bool) {
	for _, m := range p.Mismatches() {
		cli.Tell(e, fmt.Errorf("%s: stated %s, computed %s", m.Param(), m.Stated, m.Computed))
		found = true
	}
	return found
}
