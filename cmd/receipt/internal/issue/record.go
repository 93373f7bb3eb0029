package issue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

type recordOptions struct {
	record.Options
	subject          string
	from             string
	frames, markdown bool
	log              string
	withheld         withheld
	folder           folderFlags
	output           cli.OutputFlags
}

// NewRecord returns the command "receipt record".
func NewRecord(e *cli.Env) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record [PATH]...",
		Short: "create drafts or receipts from logs",
		Long: `Create the draft of a receipt from the log of a task that has ended: the
protocol's events, one JSON object per line, JSON-RPC frames of a bridge or of
ACP, or a log of a coding agent or telemetry. Several files are one task.

For a directory, or with --each, record one draft or receipt per session or per
task. Matches of --rules are withheld. --ledger issues receipts; without it,
drafts are written, one per line. Repeated runs add no duplicates. Without PATH
and stdin, the agents' sessions on this machine are issued into the ledger of
receipt init. In a home directory, only the directories of --agents are read.

Exit codes for a directory, or with --each:
  0  every task has its receipt or draft
  1  a log no longer matches its receipt
  2  something could not be read or recorded
  3  a task or session may still continue`,
		Example: `  receipt record events.jsonl --issuer my_harness -o new-draft.json
  receipt record session.jsonl --each task --issuer me --ledger ledger.db --key issuer.private.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.markdown {
				page, err := RecordPage()
				if err != nil {
					return err
				}
				return o.output.Write(e, page, 0o644)
			}
			if o.folder.agents {
				return tellAgents(e, args, &o.folder)
			}
			if len(args) == 0 && e.Defaults.Ledger != "" && !cli.InputGiven(e) {
				return recordOwn(cmd.Context(), cmd, e, &o)
			}
			if len(args) == 0 {
				args = []string{cli.StdinName}
			}
			if o.folder.ofFolders(args) {
				return recordFolders(cmd.Context(), cmd, e, args, &o)
			}
			if err := refuseFolderFlags(cmd); err != nil {
				return err
			}
			return recordLogs(cmd.Context(), e, args, &o)
		},
	}

	f := cmd.Flags()
	issuerFlags(f, &o.Issuer)
	contextFlags(f, &o.WorkspaceRef, &o.SessionID, &o.TenantID, &o.PersonaRef)
	f.StringVar(&o.TaskID, "task", "", "task in a log of several tasks; required for frames (`ID`)")
	f.StringVar(&o.subject, "subject", "", "subject: outcome, event, artifact, approval, or tool_call (default: the task or replay) (`OBJECT:ID`)")
	f.StringVar(&o.ReceiptID, "receipt-id", "", "receipt ID (default: derived from the task ID) (`ID`)")
	f.StringVar(&o.Title, "title", "", "title: at most 200 characters (`TEXT`)")
	cli.TimeVar(f, &o.IssuedAt, "issued-at", "time of issue (default: when the task ended) (`TIME`)")
	f.StringVar(&o.WorkspaceRoot, "workspace-root", "", "prefix to remove from file paths (`DIR`)")
	f.StringVar(&o.PolicyRef, "policy-ref", "", "trust policy (`REF`)")
	f.StringVar(&o.Tier, "tier", "", "persona tier, if no event names one: shadow, suggest, act_with_approval, or act_auto (`TIER`)")
	f.StringVar(&o.LogURI, "log-uri", "", "URI of the log, for replays (`URI`)")
	f.StringVar(&o.withheld.path, "disclosures", "", "file for withheld paths outside the workspace (`FILE`)")
	f.StringVar(&o.log, "log", "", "file for the events that the draft's digest covers (`FILE`)")
	f.BoolVar(&o.frames, "frames", false, "read the lines as JSON-RPC frames")
	cli.Choose(f, &o.from, "from", "", source.Names()...)
	f.Lookup("from").Usage = "log format, such as claude or codex (default: detected) (`FORMAT`)"
	f.BoolVar(&o.markdown, "markdown", false, "write the page of recording rules as Markdown")
	o.output.Register(f, "output (`FILE`)")
	o.folder.register(cmd)
	return cmd
}

// issuerFlags adds the flags for the issuer of a draft.
func issuerFlags(f *pflag.FlagSet, o *receipt.Issuer) {
	f.StringVar(&o.ID, "issuer", "", "issuer ID (`ID`)")
	f.StringVar(&o.Kind, "issuer-kind", "harness", "issuer kind: harness, host, agent, or connector (`KIND`)")
	f.StringVar(&o.Name, "issuer-name", "", "display name of the issuer (`NAME`)")
	f.StringVar(&o.PublicKeyID, "key-id", "", "require a signature by this key; sets issuer.public_key_id (`ID`)")
}

// contextFlags adds the flags for identifiers of a draft.
func contextFlags(f *pflag.FlagSet, workspace, session, tenant, persona *string) {
	f.StringVar(workspace, "workspace", "", "workspace (`REF`)")
	f.StringVar(session, "session", "", "session (`ID`)")
	f.StringVar(tenant, "tenant", "", "tenant (`ID`)")
	f.StringVar(persona, "persona", "", "persona (`REF`)")
}

// noIssuer returns the failure for a draft without an issuer.
func noIssuer() error {
	return cli.Usage("use the issuer ID for which the key was generated, or run receipt init", "missing --issuer ID")
}

// complete checks and parses the values of those flags that pflag does not check.
func (o *recordOptions) complete() error {
	if o.Issuer.ID == "" {
		return noIssuer()
	}

	if o.subject != "" {
		object, id, ok := strings.Cut(o.subject, ":")
		if !ok {
			return cli.Usage("", "--subject %q: expected OBJECT:ID, such as approval:approval_1", o.subject)
		}
		o.Subject = receipt.ResourceRef{Object: object, ID: id}
	}

	if o.from != "" && o.frames {
		return cli.Usage("", "--frames and --from exclude each other: --frames is for frames, --from for the log of an agent")
	}
	return nil
}

// keptLog creates the file for --log under a temporary name. The log is not kept in memory because
// it may be too large. Only the owner can read the file, because it contains the actions of the
// task. Without --log, keptLog returns nil.
func (o *recordOptions) keptLog() (*cli.File, error) {
	switch o.log {
	case "":
		return nil, nil
	case cli.StdinName:
		return nil, cli.Usage("", "--log must be a file, because the draft is written to stdout")
	}
	file, err := cli.NewFile(o.log, 0o600, o.output.Force)
	if err != nil {
		return nil, err
	}
	o.Keep = func(line []byte) error {
		_, err := file.Write(line)
		return err
	}
	return file, nil
}

// recordLogs records the logs of one task. Only the logs of agents can consist of several files.
func recordLogs(ctx context.Context, e *cli.Env, paths []string, o *recordOptions) error {
	if err := o.complete(); err != nil {
		return err
	}

	// If --frames is not set, the first lines of the log determine its format.
	form := record.FormUnknown
	if o.frames {
		form = record.FormFrames
	} else if err := checkKinds(paths, o.from); err != nil {
		return err
	}

	progress := e.Progress("recording")
	defer progress.End()
	progress.Pass(0, sizeOf(paths), 0)
	logs, err := openLogs(ctx, e, paths, progress)
	defer logs.close()
	if err != nil {
		return err
	}

	// The paths are checked before the logs are read, because logs may be long and stdin can be
	// read only once.
	for _, path := range paths {
		if err := checkLogPaths(path, o); err != nil {
			return err
		}
	}
	if form == record.FormUnknown {
		if err := logs.declined(paths); err != nil {
			return err
		}
	}
	// The stored log contains the events that are covered by the digest in the draft.
	kept, err := o.keptLog()
	if err != nil {
		return err
	}
	if kept != nil {
		defer kept.Discard()
	}
	if o.withheld.path != "" {
		o.Withhold = o.withheld.commit
	}

	// Package source reads the logs of agents, and package record reads the events and frames of
	// the protocol.
	if o.from != "" || len(paths) > 1 || form == record.FormUnknown && logs.ofAgents() {
		return recordAgent(e, o, paths, logs, kept)
	}
	log, err := record.Read(logs.inputs[0], o.Options, form)
	if err != nil {
		if errors.Is(err, record.ErrNotEnded) && o.TaskID != "" { // the log may not contain this task
			return cli.Undecided("check the ID of --task, or record the log when that task has ended", "%q: %w", cli.SourceName(paths[0]), err)
		}
		return recordFailure(paths[0], err)
	}
	return finishRecorded(e, o, kept, log.Draft, recordNotes(log.Counts))
}

// checkKinds returns an error for a file that is known not to be a log. If the parameter from
// specifies the agent, the format of the file may be unknown.
func checkKinds(paths []string, from string) error {
	for _, path := range paths {
		f := input.KindOfFile(path)
		if err := declined(path, f); err != nil {
			return err
		}
		if from == "" && !recorded(f.Kind) {
			return cli.Usage(input.Next(f, path), "%q is not a supported log: it is %s", path, f.What)
		}
	}
	return nil
}

// sizeOf returns the total size of the files in bytes, without files of unknown size.
func sizeOf(paths []string) (size int64) {
	for _, path := range paths {
		n, _ := input.SizeOf(path)
		size += n
	}
	return size
}

// recordAgent records the logs of an agent.
func recordAgent(e *cli.Env, o *recordOptions, paths []string, logs *logs, kept *cli.File) error {
	log, err := source.Read(logs.inputs, source.Options{Options: o.Options, From: o.from})
	if err != nil {
		return sourceFailure(paths, err)
	}
	notes := passedNotes(log.Passed)
	if o.IssuedAt.IsZero() && log.Passed.Timeless {
		notes = append(notes, "no line has a timestamp, so the draft is dated 1970: set the time of issue with --issued-at TIME")
	}
	return finishRecorded(e, o, kept, log.Draft, notes)
}

// recorded reports whether files of kind k can be recorded. It also returns true if the kind is
// unknown.
func recorded(k kind.Kind) bool {
	return k == kind.Unknown || k == kind.Events || k == kind.Frames || k == kind.Transcript
}

// finishRecorded writes the draft and the log. It then prints notes about entries that the draft
// omits, so that readers do not assume that the draft contains the complete log.
func finishRecorded(e *cli.Env, o *recordOptions, kept *cli.File, d *receipt.Draft, notes []string) error {
	text, err := record.JSON(d)
	if err != nil {
		return err
	}
	if err := writeRecorded(e, o, kept, append(text, '\n')); err != nil {
		return err
	}
	for _, note := range notes {
		e.Note("%s", note)
	}
	return nil
}

// recordFailure describes why a log was not recorded, and what to do about it. For example, the log
// is invalid or has not ended, or flags are missing.
func recordFailure(path string, err error) error {
	name := cli.SourceName(path)
	var refusal *record.Error
	var limit *record.LimitError
	var missing *record.MissingError
	var invalid *receipt.InvalidError
	var told *cli.Failure
	var option *record.OptionError

	// The order matters: more specific errors come first.
	switch {
	case errors.As(err, &told): // an error of the --log file, or an interruption
		return told
	case errors.As(err, &refusal) && refusal.Code == record.CodeOtherTask:
		return cli.Usage("select one with --task ID", "%q: %w", name, err)
	case errors.As(err, &limit): // the log is valid but exceeds a limit
		return cli.Usage("", "%q: %w", name, err)
	case errors.As(err, &refusal) && refusal.Code == record.CodeSession:
		return cli.Usage("select one with --session ID", "%q: %w", name, err)
	case errors.As(err, &refusal) && refusal.Index == 1 && refusal.Code == record.CodeMalformed:
		return cli.Refuted(malformedHow(path, err), "%q: %w", name, err)
	case errors.As(err, &refusal):
		return cli.Refuted("", "%q: %w", name, err)
	case errors.As(err, &invalid):
		return SealFailure(path, err)
	case errors.Is(err, record.ErrEmpty):
		return cli.Usage("check the path and the program that writes the log; see docs/events.md", "%q: %w", name, err)
	case errors.Is(err, record.ErrNotEnded):
		return cli.Undecided("record the log after the task has ended", "%q: %w", name, err)
	case errors.As(err, &option):
		return cli.Usage("see receipt record --help", "%q: %s %s", name, recordFlag(option.Name), option.Detail)
	case errors.As(err, &missing):
		var flags []string
		for _, name := range missing.Names {
			flags = append(flags, recordFlag(name))
		}
		return cli.Usage("see receipt record --help", "%q: neither the log nor a flag specifies %s", name, strings.Join(flags, ", "))
	}

	return cli.Usage("see receipt record --help", "%q: %w", name, cli.Reason(err))
}

// malformedHow returns the hint for a log whose first line is not an event. A hint from the parser
// takes precedence over a hint about the kind of the file.
func malformedHow(path string, err error) string {
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) && syntax.Hint != "" {
		return syntax.Hint
	}
	return input.LogHow(path)
}

// recordFlag returns the flag that sets an option.
func recordFlag(option string) string {
	flags := map[string]string{
		"WorkspaceRef": "--workspace", "SessionID": "--session", "Tier": "--tier", "Subject": "--subject", "TaskID": "--task", "Issuer.Kind": "--issuer-kind", "IssuedAt": "--issued-at",
	}
	return cmp.Or(flags[option], option)
}

// recordNotes describes the log entries that the draft omits.
func recordNotes(c record.Counts) (notes []string) {
	add := func(n int, one, many string) { notes = appendCount(notes, n, one, many) }

	kinds := ""
	if len(c.UnknownKinds) > 0 {
		kinds = ": " + strings.Join(c.UnknownKinds, ", ")
	}

	add(c.Unknown, "event of an unknown kind was not read, so lists and counts are lower bounds"+kinds, "events of unknown kinds were not read, so lists and counts are lower bounds"+kinds)
	add(c.UnknownMembers, "unknown member of a payload was ignored", "unknown members of payloads were ignored")
	add(c.OtherTasks, "event of another task, or without a task, was skipped", "events of other tasks, or without a task, were skipped")
	add(c.Retold, "event is replayed from another task: it adds materials and times, but no side effects", "events are replayed from another task: they add materials and times, but no side effects")
	add(c.Foreign, "answer came from a session other than that of its question, and was not used", "answers came from sessions other than those of their questions, and were not used")
	add(c.Repeated, "event came again", "events came again")
	add(c.Late, "event came after the end and does not affect the receipt", "events came after the end and do not affect the receipt")
	add(c.Gaps, "sequence of another resource has missing numbers", "sequences of other resources have missing numbers")
	add(c.Frames.Unknown, "frame of an unknown type was not read, so lists and counts are lower bounds", "frames of unknown types were not read, so lists and counts are lower bounds")
	add(c.Frames.OtherSessions, "frame of another session was skipped", "frames of other sessions were skipped")
	add(c.Frames.Replayed, "update repeated an earlier turn of the loaded session, and was skipped", "updates repeated earlier turns of the loaded session, and were skipped")
	add(c.Frames.Dropped, "member of an update of a worker has no place in a receipt", "members of updates of workers have no place in a receipt")
	add(c.Frames.Unmatched, "response answers no open request", "responses answer no open request")
	return notes
}

func appendCount(notes []string, n int, one, many string) []string {
	switch {
	case n == 1:
		return append(notes, "1 "+one)
	case n > 1:
		return append(notes, fmt.Sprintf("%d %s", n, many))
	}
	return notes
}
