package daily

import (
	"context"
	"maps"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
	"github.com/receiptkit/receiptkit/redact"
)

// Options specifies which tasks are recorded, and where receipts are stored.
type Options struct {
	Record    record.Options
	From      string         // name of a kind or a family of logs; "" means any
	Apart     bool           // one receipt per task instead of one per session
	Since     time.Time      // tasks that ended earlier are skipped; zero skips none
	Settled   time.Duration  // how long after the last line of a session its last task is considered over; 0 means that every task is over
	Ended     []string       // sessions that are over, regardless of their logs
	Supersede bool           // if a log has changed, a new receipt supersedes the existing one
	Policy    *redact.Policy // rules for values that are withheld
	Ledger    string         // ledger in which receipts are issued; "" writes drafts
	Signer    receipt.Signer // nil means that receipts are not signed
	Look      bool           // nothing is issued or written
	JSON      bool           // the result is printed as JSON
	Output    string         // for drafts
	Force     bool
	Own       []Folder // the agent directories of the user, if they are recorded
}

// A work item is a task that may have to be recorded.
type work struct {
	*source.Task
	files  []*logFile // of the parts
	events bool       // the task is from a log of the protocol's events
}

// Run records every task in the logs at paths, which are files or directories, and reports the
// status of each task.
func Run(ctx context.Context, e *cli.Env, paths []string, o *Options) error {
	into, err := newSink(ctx, e, o)
	if err != nil {
		return err
	}
	defer into.discard()

	// The run has three passes, which find the logs, survey them, and record their tasks.
	result := newResult()
	progress := e.Progress("looking", "reading", "recording")
	defer progress.End()
	f := &finder{ctx: ctx, result: result}
	defer f.close()
	f.find(paths)
	if err := f.keepsOff(o.Output); err != nil {
		return err
	}
	open := &opener{ctx, progress}
	v := &surveyor{opener: open, options: o, result: result, memory: memoryOf(o)}
	v.survey(f.places)

	m := &maker{opener: open, options: o, now: e.Now(), sink: into, seen: map[string]string{}, result: result}
	m.kept = maps.Clone(v.memory.receipts(into.state(ctx)))
	err = m.all(v.works)
	v.memory.keep(v.logs, into.state(context.WithoutCancel(ctx)), m.kept)
	progress.End()

	// Receipts that were issued before a failure remain, and are reported.
	if err == nil {
		err = into.commit()
	}
	heads, failure := into.heads(context.WithoutCancel(ctx))
	if err == nil {
		err = failure
	}
	if failure := (&teller{e, o, result}).tell(heads); err == nil {
		err = failure
	}

	switch {
	case err != nil:
		return err
	case len(result.entries) == 0 && result.count[unreadable] == 0:
		return cli.Usage("logs are files named *.jsonl, *.ndjson, or *.json, optionally followed by .gz or .zst; see docs/sources.md", "no log was found")
	}

	return cli.ExitWith(result.exit())
}
