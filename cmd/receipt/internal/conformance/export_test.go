package conformance

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

type Scoreboard = scoreboard

// A Verifier returns the verdict and the code for the case in a file.
type Verifier func(ctx context.Context, file string) (verdict, code string, err error)

// Score runs an in-process verifier on the cases for the given subjects, or on all cases if there
// are no subjects.
func Score(ctx context.Context, dir string, subjects []string, jobs int, v Verifier) (*Scoreboard, error) {
	c, err := openCorpus(dir)
	if err != nil {
		return nil, err
	}
	if subjects != nil {
		c.questions = slices.DeleteFunc(c.questions, func(q question) bool { return !slices.Contains(subjects, q.subject) })
	}
	results, err := askAll(ctx, c.questions, jobs, func(ctx context.Context, q question) (*answer, error) {
		verdict, code, err := v(ctx, q.file)
		if err != nil {
			return nil, &silence{err.Error()}
		}
		return reply(slices.Index(verdicts[:], verdict), code, ""), nil
	})
	if err != nil {
		return nil, err
	}
	return score(c, nil, results), nil
}

// Judge evaluates a case in the same way as the command does, and also returns the step. The
// environment consists of NAME=VALUE strings.
func Judge(ctx context.Context, line Line, file string, env ...string) (verdict, code, step string, err error) {
	e := &cli.Env{Getenv: getenv(env), Now: time.Now, Messages: nil}
	a, err := judge(ctx, e, line, file)
	if err != nil {
		return "", "", "", err
	}
	if a.Code != nil {
		code = *a.Code
	}
	step, _, _ = strings.Cut(a.step, " ")
	return a.Verdict, code, step, nil
}

// Command returns the command line for the case in a file.
func Command(file string) ([]string, error) {
	c, err := readCase(file)
	if err != nil {
		return nil, err
	}
	args, _, err := c.line()
	return args, err
}

// AnswerOf runs a command on a file and returns the command's verdict.
func AnswerOf(ctx context.Context, command []string, file string, timeout time.Duration) (verdict string, err error) {
	a, err := answerOf(ctx, command, question{file: file}, timeout)
	if err != nil {
		return "", err
	}
	return a.Verdict, nil
}

// ErrorOf runs a command on a file. It returns an explanation if the output is not an answer, and
// reports whether the command declined the case.
func ErrorOf(ctx context.Context, command []string, timeout time.Duration) (why string, declined bool) {
	_, err := answerOf(ctx, command, question{file: "case.json"}, timeout)
	if err == nil {
		return "", false
	}
	_, declined = err.(*silence)
	return err.Error(), declined
}

// ScoreField runs the command "receipt" on a corpus whose key sets are specified by environment
// variables.
func ScoreField(ctx context.Context, dir string, line Line) (*Scoreboard, error) {
	c, err := openCorpus(dir)
	if err != nil {
		return nil, err
	}
	results, err := askAll(ctx, c.questions, 1, func(ctx context.Context, q question) (*answer, error) {
		return judge(ctx, &cli.Env{Now: time.Now, Getenv: getenv(q.env)}, line, q.file)
	})
	if err != nil {
		return nil, err
	}
	return score(c, nil, results), nil
}

// getenv returns a function that looks up variables in an environment.
func getenv(env []string) func(name string) string {
	return func(name string) string {
		for _, entry := range env {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// Exit returns the exit code that corresponds to the results of the run.
func (s *scoreboard) Exit() int { return s.exit() }
