package daily

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A Folder is one in which an agent keeps its logs.
type Folder struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Files int    `json:"files"` // that have names of logs
}

// kept lists the folders of the agents below a home directory. They are the same on Linux, macOS,
// and Windows.
func kept() []Folder {
	return []Folder{
		{Agent: "Claude Code", Path: ".claude/projects"},
		{Agent: "Claude Code", Path: ".config/claude/projects"},
		{Agent: "Codex", Path: ".codex/sessions"},
		{Agent: "Codex", Path: ".codex/archived_sessions"},
		{Agent: "GitHub Copilot CLI", Path: ".copilot/session-state"},
		{Agent: "Gemini CLI", Path: ".gemini/tmp"},
		{Agent: "Pi", Path: ".pi/agent/sessions"},
	}
}

// Folders returns the folders of agents that are below a home directory. In any other directory,
// there are none.
func Folders(home string) (found []Folder) {
	for _, f := range kept() {
		f.Path = filepath.Join(home, filepath.FromSlash(f.Path))
		if info, err := os.Stat(f.Path); err == nil && info.IsDir() {
			found = append(found, f)
		}
	}
	return found
}

// TellFolders reports the folders of agents below home directories, and how many files in each have
// the name of a log. It reads none of them.
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
		e.Note("no folder of an agent was found; OpenCode exports its sessions: opencode export SESSION > FILE")
	}
	return nil
}
