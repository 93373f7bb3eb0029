package replays

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func newPlan(e *cli.Env) *cobra.Command {
	var o planFlags
	cmd := &cobra.Command{
		Use:   "plan LOG",
		Short: "say what answered a task, and what a request swaps",
		Long: `Write as JSON what answered the task of a log, in the order of its events, and the
deltas of a request, with the true digests.

Overrides whose keys match nothing in the log are listed as unmatched: a replay that
does not ask for them does not use them.

Exit codes: 0 when the task can be replayed, 1 when the request states a digest that
is false or an override matches nothing, 2 when it cannot be run with this log, 3 when something is missing: a
recorded answer, an artifact, an event that the request names.`,
		Example: `  receipt replay plan log.jsonl
  receipt replay plan log.jsonl --request request.json --artifacts .`,
		Args: cli.ExactArgs(1, "one log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, done, err := o.plan(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer done()

			text, err := receipt.AppendJSON(nil, pageOf(p))
			if err != nil {
				return err
			}
			if _, err := e.Out.Write(append(text, '\n')); err != nil {
				return err
			}
			return conclude(e, args[0], p)
		},
	}
	o.register(cmd.Flags(), "task")
	return cmd
}

// conclude says whether the plan can be run.
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
		return cli.Undecided("--artifacts DIR gives what is kept outside of the log", "%q: %w", path, missing)
	}
	return nil
}

// A planPage is a plan as JSON.
type planPage struct {
	Version      int             `json:"replay_plan_version"`
	TaskID       string          `json:"task_id"`
	LogSHA256    canon.Digest    `json:"log_sha256"`
	Events       int             `json:"events"`
	Dependencies []dependency    `json:"dependencies"`
	Deltas       []receipt.Delta `json:"deltas"`
	Mismatches   []mismatch      `json:"mismatches"`
	Unmatched    []string        `json:"unmatched"`
	Checkpoint   *checkpoint     `json:"checkpoint"`
	Unavailable  *unavailable    `json:"unavailable"`
}

type dependency struct {
	Key     string       `json:"key"`
	Kind    string       `json:"kind"`
	EventID string       `json:"event_id"`
	SHA256  canon.Digest `json:"sha256,omitzero"`
	InLog   bool         `json:"in_log"`
}

type mismatch struct {
	Param    string       `json:"param"`
	Stated   canon.Digest `json:"stated"`
	Computed canon.Digest `json:"computed"`
}

type checkpoint struct {
	EventID  string   `json:"event_id"`
	Restored []string `json:"restored"`
}

type unavailable struct {
	Object      string `json:"object"`
	ID          string `json:"id"`
	OverrideKey string `json:"override_key,omitzero"`
	EventID     string `json:"original_event_id,omitzero"`
}

func pageOf(p *replay.Plan) *planPage {
	log := p.Log()
	page := &planPage{Version: 1, TaskID: log.TaskID, LogSHA256: log.Digest, Events: log.Events, Dependencies: []dependency{}, Deltas: p.Deltas(), Mismatches: []mismatch{}, Unmatched: append([]string{}, p.Unmatched()...)}
	if event, restored := p.Checkpoint(); event != "" {
		page.Checkpoint = &checkpoint{event, append([]string{}, restored...)}
	}
	for _, d := range log.Dependencies {
		page.Dependencies = append(page.Dependencies, dependency{d.Key, d.Kind, d.EventID, d.SHA256, d.Pointer != ""})
	}
	for _, m := range p.Mismatches() {
		page.Mismatches = append(page.Mismatches, mismatch{m.Param(), m.Stated, m.Computed})
	}
	if u := p.Unavailable(); u != nil {
		page.Unavailable = &unavailable{u.Object, u.ID, u.Key, u.EventID}
	}
	return page
}
