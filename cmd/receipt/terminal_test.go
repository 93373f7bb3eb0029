package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// testEnv returns an environment that has neither input nor environment variables.
func testEnv(out, err io.Writer) *cli.Env {
	return &cli.Env{
		In: strings.NewReader(""), Out: out, Err: err,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) },

		Messages: messagesOnce,
	}
}

func TestColor(t *testing.T) {
	const task, changed = "../../fixtures/valid/task.json", "../../fixtures/malicious/changed-cost.json"
	for _, test := range []struct {
		terminal  bool
		variables map[string]string
		color     bool
	}{
		{false, nil, false},
		{true, nil, true},
		{true, map[string]string{"NO_COLOR": "1"}, false},
		{true, map[string]string{"TERM": "dumb"}, false},
		{false, map[string]string{"TERM": "xterm"}, false},
	} {
		for _, args := range [][]string{{task}, {changed}, {task, changed}, {task, changed, task, changed}} {
			var out bytes.Buffer
			e := testEnv(&out, io.Discard)
			e.Terminal = test.terminal
			e.Getenv = func(name string) string { return test.variables[name] }
			run(context.Background(), append([]string{"verify", "--keys", "../../fixtures/keys/trust.json"}, args...), e)
			if got := strings.Contains(out.String(), "\x1b["); got != test.color {
				t.Errorf("%+v, %q: colour %t, expected %t: %q", test, args, got, test.color, &out)
			}
			plain := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[0m", "").Replace(out.String())
			if strings.Contains(plain, "\x1b") {
				t.Errorf("%+v, %q: other escape sequences: %q", test, args, plain)
			}
		}
	}
}

// TestInterrupt verifies that an interrupted run never exits with code 0.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, message bytes.Buffer
	code := run(ctx, []string{"verify", "--keys", "../../fixtures/keys/trust.json", "../../fixtures/valid/task.json"}, testEnv(&out, &message))
	if code != cli.ExitUsage || out.Len() > 0 || message.String() != "receipt: error: interrupted\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &message)
	}
}

func TestEscapeLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"plain é 日本 🎉 - ~":      "plain é 日本 🎉 - ~",
		"a\nb\r\tc":             `a\nb\r\tc`,
		"\x1b[31m":              `\x1b[31m`,
		"\u202e\u2066\u200b":    `\u202e\u2066\u200b`,
		"\u2028\u2029\ufeff":    `\u2028\u2029\ufeff`,
		"\x00\x7f\u0085\u009b":  `\x00\x7f\u0085\u009b`,
		"\xff\xc3":              `\xff\xc3`,
		"\ufffd":                `\ufffd`,
		"\u00a0\u3000\u3164":    `\u00a0\u3000\u3164`,
		"\U000e0041\U0010fffd":  `\U000e0041\U0010fffd`,
		`quotes " and ' and \n`: `quotes " and ' and \n`,
	} {
		if got := cli.EscapeLine(in); got != want {
			t.Errorf("escapeLine(%+q) = %s, expected %s", in, got, want)
		}
		if got := cli.EscapeLine(cli.EscapeLine(in)); got != want {
			t.Errorf("twice: escapeLine(%+q) = %s, expected %s", in, got, want)
		}
	}
}

func TestShellName(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.json":        "a/b.json",
		"":                "''",
		"a b":             "'a b'",
		"$(rm -rf ~)":     "'$(rm -rf ~)'",
		"it's":            `'it'\''s'`,
		"a\nrm":           `$'a\nrm'`,
		"é":               "'é'",
		"`id`;&|<>*?![]{": "'`id`;&|<>*?![]{'",
	} {
		if got := cli.ShellName(in); got != want {
			t.Errorf("shellName(%q) = %s, expected %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"-x": "./-x", "stdin": "-", "-- a": "'./-- a'"} {
		if got := cli.ShellFile(in); got != want {
			t.Errorf("shellFile(%q) = %s, expected %s", in, got, want)
		}
	}
}
