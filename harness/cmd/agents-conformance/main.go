// Command agents-conformance checks whether a running harness meets the requirements of the Harn
// Agents Protocol v1. It is the only command in this module that calls a server.
//
// Results are written to stdout, and messages to stderr. The exit code is 0 if no probe failed
// (even if all were skipped), and 1 if a probe failed or the report could not be written. It is 2
// if the run was interrupted, or if it could not start because of an unusable target, an unknown
// category, or an invalid flag.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// Exit codes.
const (
	exitPassed = 0
	exitFailed = 1
	exitUsage  = 2
)

// keyVariable is the environment variable that contains the API key. Unlike an argument, it does
// not appear in process lists.
const keyVariable = "HARN_AGENTS_CONFORMANCE_API_KEY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &surroundings{out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, random: rand.Reader})
	stop()
	os.Exit(code)
}

// surroundings contains everything that a run uses except its arguments.
type surroundings struct {
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	random   io.Reader
}

// errFailed indicates that a run has already reported its failures.
var errFailed = errors.New("a probe failed")

// A writeError indicates that the report could not be written.
type writeError struct{ cause error }

func (e *writeError) Error() string { return "the report could not be written: " + e.cause.Error() }

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, s *surroundings) int {
	cmd := newCommand(s)
	cmd.SetArgs(args)
	cmd.SetOut(s.out)
	cmd.SetErr(s.err)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitPassed
	}
	if errors.Is(err, errFailed) {
		return exitFailed
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(s.err, "agents-conformance: error: %s\n", untrusted.Escape(err.Error()))
	if _, unwritten := errors.AsType[*writeError](err); unwritten {
		return exitFailed
	}
	return exitUsage
}

type flags struct {
	target, key         string
	otherKey, publicKey string
	suite, card         string
	categories          []string
	json, verbose       bool
	jsonOut             string
	workspace, session  string
	timeout             int
	keys, issuer        string
	script              conformance.Script
}

func newCommand(s *surroundings) *cobra.Command {
	var o flags
	cmd := &cobra.Command{
		Use:   "agents-conformance --target URL",
		Short: "check whether a harness conforms to the protocol",
		Long: `Check whether a running harness conforms to the Harn Agents Protocol v1, with the
26 probes of the protocol's own runner and with additional probes, which do not
trust the server's responses. A run creates sessions, messages, artifacts, and
tasks on the server.

Categories, in the order in which they are run:
  upstream  ` + strings.Join(conformance.Categories(conformance.Upstream), ", ") + `
  ours      ` + strings.Join(conformance.Categories(conformance.Ours), ", ") + `

Exit codes: 0 nothing failed, even if all probes were skipped, 1 a probe failed,
or the report could not be written, 2 the run could not start or was interrupted.`,
		Example: `  agents-conformance --target http://127.0.0.1:8080 --keys trust.json
  agents-conformance --target https://harness.example/base --suite upstream --json`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}

	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.target, "target", "", "base `URL` of the server, with the path prefix of its routes")
	f.StringVar(&o.key, "api-key", "", "API `KEY`; better set $"+keyVariable)
	f.StringVar(&o.otherKey, "other-key", "", "API `KEY` of a client that must not see the first client's resources")
	f.StringVar(&o.publicKey, "public-key", "", "API `KEY` of a client that sees the same as the first, but only public parts of messages; without it, visibility is not checked")
	f.StringVar(&o.suite, "suite", "both", "`SUITE` of probes: upstream, ours, or both")
	f.StringSliceVar(&o.categories, "category", nil, "run only the category `NAME`, in the given order; repeatable, or separated by commas")
	f.StringVar(&o.keys, "keys", "", "trusted keys, a JWK Set `FILE`; without it, signatures are not checked")
	f.StringVar(&o.issuer, "issuer", "", "required issuer `ID` of receipts")
	f.StringVar(&o.card, "card", "", "required `DIALECT` of the agent card: agent_card or harn_agent_card (default: either)")
	f.StringVar(&o.workspace, "workspace-id", "", "use the workspace `ID`, and create none")
	f.StringVar(&o.session, "session-id", "", "use the session `ID`, and create none")
	f.StringVar(&o.script.Waits, "waits", "", "input `TEXT` of a task that runs until it is canceled")
	f.StringVar(&o.script.Unstored, "unstored", "", "input `TEXT` of a task that cannot be replayed exactly, because one of its answers is not kept")
	f.IntVar(&o.timeout, "timeout", 30000, "time limit of each request, 1 to 3600000 `MILLISECONDS`")
	f.BoolVar(&o.json, "json", false, "print only the report, as JSON")
	f.StringVar(&o.jsonOut, "json-out", "", "also write the report as JSON to `FILE`")
	f.BoolVar(&o.verbose, "verbose", false, "also list the probes that passed or were skipped")
	return cmd
}

// options returns the target and the options that are specified by the flags.
func (o *flags) options(s *surroundings) (conformance.Target, conformance.Options, error) {
	t := conformance.Target{URL: o.target, Key: o.key, OtherKey: o.otherKey, PublicKey: o.publicKey, WorkspaceID: o.workspace, SessionID: o.session, Script: o.script}
	c := conformance.Options{Categories: o.categories, Policy: receipt.Policy{Issuer: o.issuer}, Card: o.card, Now: s.now, Random: s.random}
	if t.Key == "" {
		t.Key = s.getenv(keyVariable)
	}
	c.Timeout = time.Duration(o.timeout) * time.Millisecond

	switch o.suite {
	case "both":
	case string(conformance.Upstream), string(conformance.Ours):
		c.Suites = []conformance.Suite{conformance.Suite(o.suite)}
	default:
		return t, c, fmt.Errorf("--suite: expected upstream, ours or both, found %s", untrusted.Quote(o.suite, 80))
	}
	switch {
	case o.target == "":
		return t, c, errors.New("--target: expected the URL of a server, found none")
	case o.timeout < 1 || o.timeout > 3600_000:
		return t, c, fmt.Errorf("--timeout: expected 1 to 3600000 milliseconds, found %d", o.timeout)
	case o.card != "" && o.card != "agent_card" && o.card != "harn_agent_card":
		return t, c, fmt.Errorf("--card: expected agent_card or harn_agent_card, found %s", untrusted.Quote(o.card, 80))
	case o.keys == "":
		return t, c, nil
	}

	data, err := os.ReadFile(o.keys)
	if err != nil {
		return t, c, fmt.Errorf("--keys: %w", err)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		return t, c, fmt.Errorf("--keys: %w", err)
	}
	c.Trust = set
	return t, c, nil
}

func (o *flags) run(ctx context.Context, s *surroundings) error {
	t, c, err := o.options(s)
	if err != nil {
		return err
	}
	report, err := conformance.Run(ctx, t, c)
	if err != nil {
		return err
	}
	if err := write(o, report, s.out); err != nil {
		return &writeError{err}
	}
	if report.Summary.Failed > 0 {
		return errFailed
	}
	return nil
}
