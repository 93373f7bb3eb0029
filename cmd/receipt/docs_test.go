package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestDocumentedCommands verifies that the commands in the documentation use only existing
// subcommands and flags.
func TestDocumentedCommands(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 6 {
		t.Fatalf("%q, %v", files, err)
	}
	seen := 0
	for _, file := range append(files, "../../README.md") {
		text := readFile(t, file)
		for _, block := range regexp.MustCompile("(?ms)^```(?:sh|yaml)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
			for _, m := range regexp.MustCompile(`(?m)(?:^\s*(?:- )?(?:\(cd \S+ && )?|\| )(?:receipt|go run \./cmd/receipt) (.*)$`).FindAllStringSubmatch(block[1], -1) {
				seen++
				parseCommand(t, filepath.Base(file), m[1])
			}
		}
	}
	if seen < 25 {
		t.Errorf("found %d commands, expected more", seen)
	}
}

func parseCommand(t *testing.T, file, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " |")
	var args []string
	for _, word := range strings.Fields(strings.TrimSuffix(line, ")")) {
		args = append(args, strings.Trim(word, `"'`))
	}
	cmd, rest, err := newRoot(&cli.Env{Getenv: func(string) string { return "" }}).Find(args)
	if err != nil || cmd.Name() == "receipt" {
		t.Errorf("%s: receipt %s: no such verb", file, line)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: receipt %s: %v", file, line, err)
	}
}
