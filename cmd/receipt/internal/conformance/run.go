package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// Limits on the output of a verifier, in bytes.
const (
	maxOutput = 1 << 20
	maxSaid   = 500
)

type runOptions struct {
	corpus, format string
	subjects       []string
	timeout        time.Duration
}

func newRun(e *cli.Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --corpus DIR -- COMMAND…",
		Short: "run a verifier on every case, and compare its answers",
		Long: `Run COMMAND CASE for each case, and compare its answers with the corpus.

Exit codes: 0 all as expected, 1 an answer differs, 2 no case was answered, 3
some cases were not answered.`,
		Example: `  receipt conformance run --corpus fixtures/corpus --subject batch -- receipt conformance answer
  receipt conformance run --corpus fixtures/corpus --subject batch --format json -- receipt conformance answer`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.corpus == "":
				return cli.Usage("", "missing --corpus DIR")
			case len(args) == 0:
				return cli.Usage("write the command after --", "expected the command of a verifier")
			case o.timeout <= 0:
				return cli.Usage("", "--timeout must be more than 0, found %s", o.timeout)
			}
			return o.run(cmd.Context(), e, args)
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.corpus, "corpus", "", "cases, with their manifest (`DIR`)")
	f.StringArrayVar(&o.subjects, "subject", nil, "run only cases of this `SUBJECT`; repeatable")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "maximum wait for each answer (`DURATION`)")
	o.format = "text"
	cli.Choose(f, &o.format, "format", "report format (`FORMAT`)", "text", "json")
	return cmd
}

func (o *runOptions) run(ctx context.Context, e *cli.Env, command []string) error {
	c, err := openCorpus(o.corpus)
	if err != nil {
		return cli.Usage("", "corpus %q: %w", o.corpus, err)
	}

	// Only the selected cases are included. Cases with other subjects are not part of the run.
	if len(o.subjects) > 0 {
		c.questions = slices.DeleteFunc(c.questions, func(q question) bool { return !slices.Contains(o.subjects, q.subject) })
	}

	if command[0], err = exec.LookPath(command[0]); err != nil {
		return cli.Usage("", "verifier: %w", err)
	}

	results, err := askAll(ctx, c.questions, runtime.GOMAXPROCS(0), func(ctx context.Context, q question) (*answer, error) {
		return answerOf(ctx, command, q, o.timeout)
	})
	if err != nil {
		return err
	}

	s := score(c, command, results)
	if err := s.print(e, o.format); err != nil {
		return err
	}
	return cli.ExitWith(s.exit())
}

// A result is the answer to a question, or explains why there is no answer.
type result struct {
	question
	*answer
	err error
}

// A silence indicates that a verifier declined to answer, which is not a fault.
type silence struct{ why string }

func (s *silence) Error() string { return s.why }

// askAll asks all questions, several at the same time, and returns the results in order.
func askAll(ctx context.Context, list []question, jobs int, verifier func(context.Context, question) (*answer, error)) ([]result, error) {
	results := make([]result, len(list))

	// Each worker writes different elements of the results.
	next := make(chan int)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := range next {
				a, err := verifier(ctx, list[i])
				results[i] = result{list[i], a, err}
			}
		})
	}

	for i := range list {
		next <- i
	}
	close(next)
	workers.Wait()
	return results, ctx.Err()
}

// answerOf runs the verifier once. The error is a *silence if it declined to answer.
func answerOf(ctx context.Context, command []string, q question, timeout time.Duration) (*answer, error) {
	p := cli.Program{
		Path: command[0], Args: append(slices.Clone(command[1:]), q.file), Env: append(os.Environ(), q.env...),
		Patience: timeout, Most: maxOutput, MostSaid: maxSaid,
	}
	out, err := p.Run(ctx)

	// If a verifier hangs or writes too much, the case fails, because a caller would have no
	// verdict.
	var start *cli.StartError
	switch {
	case errors.As(err, &start):
		return nil, &silence{err.Error()}
	case errors.Is(err, cli.ErrLate):
		return nil, fmt.Errorf("no answer within %s", timeout)
	case errors.Is(err, cli.ErrLoud):
		return nil, fmt.Errorf("more than %d bytes of output", maxOutput)
	case err != nil:
		return nil, err
	}

	// Any other status, including that of a signal (-1), means that there is no answer.
	status := out.State.ExitCode()
	if status < 0 || status >= len(verdicts) {
		why := out.State.String()
		if said := bytes.TrimSpace(out.Said); len(said) > 0 {
			why += ": " + cli.EscapeLine(string(said))
		}
		return nil, &silence{why}
	}

	a, err := lastLine(out.Stdout)
	if err != nil {
		return nil, err
	}
	if a.status() != status {
		return nil, fmt.Errorf("exit status %d contradicts the verdict %q", status, a.Verdict)
	}
	return a, nil
}

// lastLine reads the last non-empty line of the output.
func lastLine(out []byte) (*answer, error) {
	out = bytes.TrimSpace(out)
	line := out[bytes.LastIndexByte(out, '\n')+1:]

	// The pointer distinguishes null from an answer without members.
	var a *answer
	if err := json.Unmarshal(line, &a); err != nil || a == nil || a.status() < 0 {
		return nil, errors.New(`the last line is not {"verdict": "valid", "invalid", or "undecidable", "code": …}`)
	}
	return a, nil
}
