package issue

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/daily"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
)

// folderFlags contains the flags for recording directories, and for --each.
type folderFlags struct {
	daily.Options
	each, since, settled, format string
	rules                        []string
	key                          trust.KeyFlags
	unsigned, agents             bool
}

// settledByDefault is the default time without new entries after which a log is considered to have
// ended.
const settledByDefault = "30m"

func (o *folderFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.Choose(f, &o.each, "each", "unit of a receipt (default for a directory: session) (`UNIT`)", "task", "session")
	f.StringVar(&o.since, "since", "", "skip tasks that ended earlier: a date or time, or a duration such as 7d (`TIME`)")
	f.StringVar(&o.settled, "settled", settledByDefault, "time without new entries after which a session has ended (`DURATION`)")
	f.StringArrayVar(&o.Ended, "ended", nil, "treat this session as ended; repeatable (`ID`)")
	f.StringVar(&o.Ledger, "ledger", "", "ledger to issue receipts into (`FILE`)")
	f.BoolVar(&o.Supersede, "supersede", false, "with --ledger: supersede receipts that no longer match their logs")
	f.BoolVar(&o.unsigned, "unsigned", false, "with --ledger: do not sign the receipts")
	f.StringArrayVar(&o.rules, "rules", []string{"default"}, "with --each: what to withhold: upstream, default, strict, or a file; repeatable (`RULES`)")
	o.format = "text"
	cli.Choose(f, &o.format, "format", "with --each: output format (`FORMAT`)", "text", "json")
	f.BoolVar(&o.Look, "dry-run", false, "with --each: only report what would be created")
	f.BoolVar(&o.agents, "agents", false, "list the log directories of agents in PATH (default: home)")
	o.key.AddKey(cmd)
}

// tellAgents lists the agent directories in home directories.
func tellAgents(e *cli.Env, homes []string, o *folderFlags) error {
	if len(homes) == 0 {
		home := cli.Home(e)
		if home == "" {
			return cli.Usage("receipt record --agents DIR", "neither HOME nor USERPROFILE names your home directory")
		}
		homes = []string{home}
	}
	return daily.TellFolders(e, homes, o.format == "json")
}

// ofAgents replaces each home directory with the agent directories in it.
func ofAgents(e *cli.Env, paths []string) (all []string) {
	for _, path := range paths {
		folders := daily.Folders(path)
		if len(folders) == 0 {
			all = append(all, path)
			continue
		}
		e.Note("in %q, only the log directories of agents are read; see receipt record --agents", cli.SourceName(path))
		for _, f := range folders {
			all = append(all, f.Path)
		}
	}
	return all
}

// recordOwn records the sessions of the user's agents, with default options.
func recordOwn(ctx context.Context, cmd *cobra.Command, e *cli.Env, o *recordOptions) error {
	f, d := &o.folder, &e.Defaults
	if f.Own = daily.OwnFolders(e); len(f.Own) == 0 {
		return cli.Usage("specify the logs with PATH; receipt record --agents lists the directories of agents", "no session of an agent was found on this machine")
	}
	if o.output.Path == "" {
		f.Ledger = cmp.Or(f.Ledger, d.Ledger)
	}
	if f.Ledger != "" && !f.unsigned {
		f.key.Path = cmp.Or(f.key.Path, d.Key)
	}
	o.Issuer.ID = cmp.Or(o.Issuer.ID, d.Issuer)
	f.each = cmp.Or(f.each, d.Each)
	var paths []string
	for _, folder := range f.Own {
		paths = append(paths, folder.Path)
	}
	return recordFolders(ctx, cmd, e, paths, o)
}

// ofFolders reports whether the flags or the paths require anything other than a draft of one task.
func (o *folderFlags) ofFolders(paths []string) bool {
	if o.each+o.since+o.Ledger != "" || o.Look {
		return true
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// refuseFolderFlags returns an error if a flag that requires a directory or --each is used for a
// single task.
func refuseFolderFlags(cmd *cobra.Command) error {
	for _, name := range []string{"settled", "ended", "supersede", "unsigned", "rules", "format", "key", "key-timeout"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage("receipt record --each session FILE… redacts, and issues with --ledger", "--%s requires --each or a directory", name)
		}
	}
	return nil
}

// recordFolders records every task in the logs of files and directories.
func recordFolders(ctx context.Context, cmd *cobra.Command, e *cli.Env, paths []string, o *recordOptions) error {
	for _, name := range []string{"task", "receipt-id", "subject", "log", "log-uri", "disclosures", "frames", "session", "issued-at", "title"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage("receipt record FILE --"+name+" records one task", "--%s applies to a single task, but this input can contain several", name)
		}
	}

	// A log on stdin has no name, so the next run could not recognize it.
	for _, path := range paths {
		if path == cli.StdinName {
			return cli.Usage("to create the draft of one log from stdin, run receipt record -", "expected directories or files, found -")
		}
	}

	// The key is opened before complete is called, because the key can determine the issuer.
	d := &o.folder
	if err := d.parse(e); err != nil {
		return err
	}
	if err := d.sign(ctx, e, o); err != nil {
		return err
	}
	if err := o.complete(); err != nil {
		return err
	}
	d.Record, d.From, d.Output, d.Force = o.Options, o.from, o.output.Path, o.output.Force
	return daily.Run(ctx, e, ofAgents(e, paths), &d.Options)
}

// parse parses the values of flags that pflag does not parse.
func (o *folderFlags) parse(e *cli.Env) (err error) {
	o.Apart, o.JSON = o.each == "task", o.format == "json"
	if o.Since, err = cli.SinceTime(o.since, e.Now()); err != nil {
		return err
	}
	if o.Settled, err = cli.ParseDuration(o.settled); err != nil {
		return cli.Usage("", "--settled %q: expected a duration such as 30m, 2h or 1d", o.settled)
	}
	o.Policy, err = redactionPolicy(e, o.rules)
	return err
}

// sign opens the key. If no issuer is specified, it uses the issuer in the trust file, provided
// that the key may speak for exactly one issuer.
func (o *folderFlags) sign(ctx context.Context, e *cli.Env, r *recordOptions) error {
	o.key.Named(r.Issuer.PublicKeyID)
	signed := o.key.Path != ""
	switch {
	case o.Ledger == "" && (signed || o.unsigned):
		return cli.Usage("create a ledger with receipt ledger init LEDGER", "--key and --unsigned require --ledger")
	case o.Ledger == "":
		return nil
	case r.output.Path != "":
		return cli.Usage("write receipts with receipt ledger export", "--ledger and --output exclude each other")
	case signed && o.unsigned:
		return cli.Usage("", "--key and --unsigned exclude each other")
	case o.Look && !signed:
		return nil
	case !signed && !o.unsigned:
		return cli.Usage("generate a key with receipt keys generate, or store unsigned receipts with --unsigned", "missing --key KEY")
	case o.unsigned:
		return nil
	}

	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	if r.Issuer.ID == "" {
		r.Issuer.ID = trust.IssuerOf(e, key.Public().ID)
	}
	o.Signer = key
	return nil
}
