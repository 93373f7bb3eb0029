package verify

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// NewReplay returns the command "receipt replay".
func NewReplay(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "replay COMMAND",
		Short: "list the substitutions in a replay, and check that it made no others",
		Long: `Work with replays, which repeat a task from its log with named substitutions.
These commands run no model or tool.`,
		Example: `  receipt replay plan log.jsonl --request request.json
  receipt replay check replayed.json --log log.jsonl --request request.json --keys keys.json`,
	}, newReplayPlan(e), newReplayRun(e), newReplayCheck(e), newReplayCompare(e))
}

// planFlags specifies the inputs of a plan.
type planFlags struct{ request, artifacts, source string }

func (o *planFlags) register(f *pflag.FlagSet, task string) {
	f.StringVar(&o.request, "request", "", "substitutions, as JSON (`FILE`)")
	f.StringVar(&o.artifacts, "artifacts", "", "artifacts of overrides by ID, recorded answers by digest (`DIR`)")
	f.StringVar(&o.source, task, "", "task of the log, if there are several (`ID`)")
}

// plan creates the plan. The log must be a file, because it is read more than once. The caller must
// call close when done.
func (o *planFlags) plan(ctx context.Context, e *cli.Env, path string) (p *replay.Plan, close func(), err error) {
	request, err := o.read(e)
	if err != nil {
		return nil, nil, err
	}
	if path == cli.StdinName {
		return nil, nil, cli.Usage("", "the log must be a file, because it is read more than once")
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

	// The plan reads the log again, so the file stays open until close is called.
	done := func() {
		progress.End()
		in.Close()
	}
	if err != nil {
		done()
		return nil, nil, replayFailure(path, err)
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
		return nil, cli.Usage("print the form with receipt schema replay-request", "%q: %w", cli.SourceName(o.request), err)
	}
	return request, nil
}

func (o *planFlags) folder() replay.Artifacts {
	if o.artifacts == "" {
		return nil
	}
	return replay.Files(os.DirFS(o.artifacts))
}

// replayFailure describes why a log was not accepted, and the recommended action.
func replayFailure(path string, err error) error {
	var refusal *record.Error
	var limit *record.LimitError
	var request *replay.RequestError
	var missing *replay.UnavailableError
	switch {
	case errors.As(err, &refusal) && refusal.Code == record.CodeOtherTask:
		return cli.Usage("select one with --task ID", "%q: %w", path, err)
	case errors.As(err, &limit):
		return cli.Usage("", "%q: %w", path, err)
	case errors.As(err, &refusal):
		return cli.Refuted("", "%q: %w", path, err)
	case errors.Is(err, record.ErrNotEnded), errors.As(err, &missing):
		return cli.Undecided("", "%q: %w", path, err)
	case errors.As(err, &request):
		return cli.Usage("list the possible substitutions with receipt replay plan LOG", "%w", err)
	}
	return cli.Usage("", "%q: %w", path, cli.Reason(err))
}

// tellMismatches prints the incorrect digests in a request.
func tellMismatches(e *cli.Env, p *replay.Plan) (found bool) {
	for _, m := range p.Mismatches() {
		cli.Tell(e, fmt.Errorf("%s: stated %s, computed %s", m.Param(), m.Stated, m.Computed))
		found = true
	}
	return found
}

func newReplayPlan(e *cli.Env) *cobra.Command {
	var o planFlags
	cmd := &cobra.Command{
		Use:   "plan LOG",
		Short: "list the answers of a task, and the substitutions of a request",
		Long: `Write, as JSON, the recorded answers of a task, in the order of its events, and
the deltas of a request, with computed digests.

Exit codes:
  0  the task can be replayed
  1  the request states an incorrect digest, or an override matches nothing
  2  the request cannot be run with this log
  3  an answer, an artifact, or an event is missing`,
		Example: `  receipt replay plan log.jsonl
  receipt replay plan log.jsonl --request request.json --artifacts .`,
		Args: cli.ExactArgs(1, "one log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, done, err := o.plan(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer done()

			// The plan is written even if it cannot be run, because it lists what is incorrect or
			// missing.
			if err := e.WriteJSON(pageOf(p)); err != nil {
				return err
			}
			return conclude(e, args[0], p)
		},
	}
	o.register(cmd.Flags(), "task")
	return cmd
}

// conclude returns an error unless the plan can be run.
func conclude(e *cli.Env, path string, p *replay.Plan) error {
	wrong := tellMismatches(e, p)
	for _, key := range p.Unmatched() {
		cli.Tell(e, fmt.Errorf("override.%s: nothing in the log has this key", key))
		wrong = true
	}
	if wrong {
		return cli.ExitWith(cli.ExitRefuted)
	}
	if missing := p.Unavailable(); missing != nil {
		return cli.Undecided("use --artifacts DIR for artifacts stored outside the log", "%q: %w", path, missing)
	}
	return nil
}

// A planPage is the JSON form of a plan.
type planPage struct {
	Version      int              `json:"replay_plan_version"`
	TaskID       string           `json:"task_id"`
	LogSHA256    canon.Digest     `json:"log_sha256"`
	Events       int              `json:"events"`
	Dependencies []planDependency `json:"dependencies"`
	Deltas       []receipt.Delta  `json:"deltas"`
	Mismatches   []planMismatch   `json:"mismatches"`
	Unmatched    []string         `json:"unmatched"`
	Checkpoint   *planCheckpoint  `json:"checkpoint"`
	Unavailable  *planUnavailable `json:"unavailable"`
}

type planDependency struct {
	Key     string       `json:"key"`
	Kind    string       `json:"kind"`
	EventID string       `json:"event_id"`
	SHA256  canon.Digest `json:"sha256,omitzero"`
	InLog   bool         `json:"in_log"`
}

type planMismatch struct {
	Param    string       `json:"param"`
	Stated   canon.Digest `json:"stated"`
	Computed canon.Digest `json:"computed"`
}

type planCheckpoint struct {
	EventID  string   `json:"event_id"`
	Restored []string `json:"restored"`
}

type planUnavailable struct {
	Object      string `json:"object"`
	ID          string `json:"id"`
	OverrideKey string `json:"override_key,omitzero"`
	EventID     string `json:"original_event_id,omitzero"`
}

func pageOf(p *replay.Plan) *planPage {
	log := p.Log
	page := &planPage{Version: 1, TaskID: log.TaskID, LogSHA256: log.Digest, Events: log.Events, Dependencies: []planDependency{}, Deltas: p.Deltas(), Mismatches: []planMismatch{}, Unmatched: append([]string{}, p.Unmatched()...)}
	if event, restored := p.Checkpoint(); event != "" {
		page.Checkpoint = &planCheckpoint{event, append([]string{}, restored...)}
	}
	for _, d := range log.Dependencies {
		page.Dependencies = append(page.Dependencies, planDependency{d.Key, d.Kind, d.EventID, d.SHA256, d.Pointer != ""})
	}
	for _, m := range p.Mismatches() {
		page.Mismatches = append(page.Mismatches, planMismatch{m.Param(), m.Stated, m.Computed})
	}
	if u := p.Unavailable(); u != nil {
		page.Unavailable = &planUnavailable{u.Object, u.ID, u.Key, u.EventID}
	}
	return page
}
