package setup

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// Lines around the block in a Git hook, and the beginning of a file that contains only the block.
const (
	blockBegin = "# receipt hook: begin\n"
	blockEnd   = "# receipt hook: end\n"
	blockFile  = "#!/bin/sh\n# Created by receipt hook install git.\n"
)

// gitHook returns the path of the pre-push hook of the repository in the current directory.
func gitHook(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--git-path", "hooks/pre-push")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		why, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return "", cli.Usage("run the command in a git repository", "git rev-parse: %w: %s", err, why)
	}
	return filepath.Abs(strings.TrimSuffix(string(out), "\n"))
}

// addBlock adds the line to a hook before all other lines, because the other lines may end the
// script.
func addBlock(text []byte, line string) ([]byte, error) {
	block := blockBegin + line + "\n" + blockEnd
	if text == nil {
		return []byte(blockFile + block), nil
	}
	if after, found, err := cutBlock(text); err != nil {
		return nil, err
	} else if found && after == nil {
		return []byte(blockFile + block), nil
	} else if found {
		text = after
	}

	first, rest, whole := strings.Cut(string(text), "\n")
	shell := regexp.MustCompile(`^#! ?\S*(/| )(sh|bash|dash|ksh|zsh)( |$)`)
	if !whole || !shell.MatchString(first) {
		return nil, errors.New("the hook is not a shell script")
	}
	return []byte(first + "\n" + block + rest), nil
}

// cutBlock removes the block. If addBlock created the file and no other text remains, after is nil.
func cutBlock(text []byte) (after []byte, found bool, err error) {
	head, rest, begun := strings.Cut(string(text), blockBegin)
	if !begun {
		return nil, false, nil
	}
	_, tail, ended := strings.Cut(rest, blockEnd)
	if !ended {
		return nil, false, errors.New("the block of receipt has no end")
	}
	if head == blockFile && tail == "" {
		return nil, true, nil
	}
	return []byte(head + tail), true, nil
}
