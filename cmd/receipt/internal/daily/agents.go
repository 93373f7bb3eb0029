package daily

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A Folder is a directory in which an agent keeps its logs.
type Folder struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Files int    `json:"files"` // that have names of logs

	label string // short name of the agent

	// The environment variable names a directory that replaces the first element of the path.
	variable string
}

// kept lists the directories of the agents below a home directory. These directories are the same
// on Linux, macOS, and Windows.
func kept() []Folder {
	return []Folder{
		{Agent: "Claude Code", label: "claude", Path: ".claude/projects", variable: "CLAUDE_CONFIG_DIR"},
		{Agent: "Claude Code", label: "claude", Path: ".config/claude/projects"},
		{Agent: "Codex", label: "codex", Path: ".codex/sessions", variable: "CODEX_HOME"},
		{Agent: "Codex", label: "codex", Path: ".codex/archived_sessions", variable: "CODEX_HOME"},
		{Agent: "GitHub Copilot CLI", label: "copilot", Path: ".copilot/session-state"},
		{Agent: "Gemini CLI", label: "gemini", Path: ".gemini/tmp"},
		{Agent: "Pi", label: "pi", Path: ".pi/agent/sessions"},
	}
}

// Folders returns the existing agent directories below a home directory. For any other directory,
// it returns none.
func Folders(home string) []Folder {
	return folders(home, func(string) string { return "" })
}

// OwnFolders returns the agent directories of the user, which may be outside the home directory if
// environment variables are set.
func OwnFolders(e *cli.Env) []Folder {
	home := cli.Home(e)
	if home == "" {
		home = string(filepath.Separator) // must not be the current directory
	}
	return folders(home, e.Getenv)
}

func folders(home string, getenv func(string) string) (found []Folder) {
	for _, f := range kept() {
		path := filepath.Join(home, filepath.FromSlash(f.Path))
		if dir := getenv(f.variable); f.variable != "" && dir != "" {
			_, rest, _ := strings.Cut(f.Path, "/")
			path = filepath.Join(dir, rest)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			f.Path = path
			found = append(found, f)
		}
	}
	return found
}

// TellFolders reports the agent directories below home directories. For each directory, it reports
// the number of files that have the name of a log. It does not read these files.
func TellFolders(e *cli.Env, homes []string, asJSON bool) error {
	found := []Folder{}
	for _, home := range homes {
		found = append(found, Folders(home)...)
	}
	for i := range found {
		_ = filepath.WalkDir(found[i].Path, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isLog(path) {
				found[i].Files++
			}
			return nil
		})
	}

	if asJSON {
		return e.WriteJSON(found)
	}
	for _, f := range found {
		fmt.Fprintf(e.Text(), "%-20s %s (%s)\n", f.Agent, cli.SourceName(f.Path), cli.Plural(f.Files, "file", ""))
	}
	if len(found) == 0 {
		e.Note("no log directory of an agent was found; OpenCode exports its sessions: opencode export SESSION > FILE")
	}
	return nil
}
