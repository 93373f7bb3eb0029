package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/monitor"
	"github.com/receiptkit/receiptkit/log/tile"
)

type monitorOptions struct {
	policy, dir    string
	every, silence time.Duration
	once, full     bool
}

func newMonitor(t *terminal) *cobra.Command {
	var o monitorOptions
	cmd := &cobra.Command{
		Use:   "monitor --policy FILE --dir DIR",
		Short: "follow logs, and report what their keepers must not do",
		Long: `Follow the logs of --policy that have a URL. Each line of the output has the kind
of a finding, the log, and details:

  growth       the log has more entries, and extends the tree that was seen last
  fork         the log signed two trees of which neither extends the other
  shrink       the log shows a smaller tree than before
  invalid      a signature or a file of the log is invalid
  unknown_key  no key of the log signed its checkpoint
  unwitnessed  the quorum of the policy did not cosign the checkpoint
  silence      the last cosignature is older than --silence
  unreachable  the log or a witness did not answer, or did not return a file

DIR has the last valid checkpoint of each log, and the checkpoints that
contradict each other, as evidence. It has no entries. The checkpoints that the
witnesses serve are compared, too.

Each look reads the new entries with their hash tiles. To find files that were
deleted, it also reads up to 4,096 old entries again, and continues after those
of the last look. With --full, or with a new DIR, a look reads all entries.

Exit codes:
  0  only growth, or nothing
  1  fork, shrink, or invalid
  2  the command could not run as requested
  3  any other finding`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), t) },
	}

	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", "", "logs with their URLs, witnesses, and quorum, a tlog-policy (`FILE`)")
	f.StringVar(&o.dir, "dir", "", "directory of the state, created if necessary (`DIR`)")
	f.DurationVar(&o.every, "every", time.Minute, "time between two looks (`DURATION`)")
	f.DurationVar(&o.silence, "silence", 0, "maximum age of the last cosignature, longer than --heartbeat of the log (default: not checked) (`DURATION`)")
	f.BoolVar(&o.once, "once", false, "look once")
	f.BoolVar(&o.full, "full", false, "read all entries in each look")
	return cmd
}

func (o *monitorOptions) run(ctx context.Context, t *terminal) error {
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	if o.dir == "" || o.every <= 0 || o.silence < 0 {
		return errors.New("missing --dir DIR, or --every is not positive, or --silence is negative")
	}
	watched := 0
	for _, l := range policy.Logs {
		if l.URL != "" {
			watched++
		}
	}
	if watched == 0 {
		return errors.New("the policy has no line log with a URL")
	}
	dir, err := durable.OpenDir(o.dir)
	if err != nil {
		return err
	}
	defer dir.Close()

	m := monitor.New(monitor.Config{Policy: policy, Disk: dir, Silence: o.silence, Full: o.full, Now: time.Now, Open: func(url string) tile.Source {
		return tile.NewHTTP(url, time.Minute)
	}})
	code := exitVerified
	for {
		findings, err := m.Check(ctx)
		for _, f := range findings {
			t.print("%s %s %s", f.Kind, f.Origin, f.Detail)
			code = worse(code, f.Kind)
		}
		if err != nil && ctx.Err() == nil {
			if code != exitRefuted {
				return err
			}
			t.note("error: %v", err)
			break
		}
		if o.once || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(o.every):
		}
	}
	if code != exitVerified {
		return exitCode(code)
	}
	return nil
}

// worse returns the exit code after an additional finding of kind k.
func worse(code int, k monitor.Kind) int {
	switch {
	case k.Refutes() || code == exitRefuted:
		return exitRefuted
	case k == monitor.Growth:
		return code
	}
	return exitUndecided
}
