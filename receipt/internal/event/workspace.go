package event

import (
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// A Workspace consists of the directories in which a task worked. Paths in the first directory are
// relative to it; paths in any other directory start with the label of that directory.
type Workspace struct {
	roots  []string
	labels []string // label of each root; "" for the first root
	seen   map[string]string
}

// NewWorkspace returns a workspace with the given roots. It omits later roots that usually contain
// more than one project (see isBroad) or that are inside an earlier root.
func NewWorkspace(roots ...string) *Workspace {
	w := &Workspace{seen: map[string]string{}}
	names := map[string]int{}
	for i, root := range roots {
		root = trimmed(cleaned(root))

		// The first root is always part of the workspace, even if it is broad.
		if i == 0 {
			w.roots, w.labels = append(w.roots, root), append(w.labels, "")
			continue
		}
		if _, inside := w.Place(root + "/x"); !absolute(root) || inside || isBroad(root) {
			continue
		}

		// Labels of roots with the same name are numbered.
		name := path.Base(slashes(root))
		if names[name]++; names[name] > 1 {
			name += " " + strconv.Itoa(names[name])
		}
		w.roots, w.labels = append(w.roots, root), append(w.labels, "(workspace "+name+")")
	}
	return w
}

// trimmed returns a root without trailing slashes.
func trimmed(root string) string {
	if short := strings.TrimRight(root, `/\`); short != "" {
		return short
	}
	return root
}

// Place returns a path relative to the workspace, with slashes as separators. It returns false if
// the path is outside the workspace.
func (w *Workspace) Place(p string) (string, bool) {
	p = cleaned(p)
	for i, root := range w.roots {
		rest, ok := InWorkspace(root, p)
		switch {
		case !ok:
		case i == 0:
			return rest, true
		case absolute(p): // a relative path is resolved against the first root
			return w.labels[i] + "/" + rest, true
		}
	}
	return Outside, false
}

// Label returns a label for a path outside the workspace: the class of the path, and a number that
// is the same for all spellings of the path.
func (w *Workspace) Label(p string) string {
	// A relative path is resolved against the first root, so that all spellings of the path have
	// the same label.
	if !absolute(p) && !strings.HasPrefix(p, "~") && ofURL(p) == p && absolute(w.roots[0]) {
		p = w.roots[0] + "/" + p
	}

	p = cleaned(p)
	if w.seen[p] == "" {
		w.seen[p] = "(outside " + strconv.Itoa(len(w.seen)+1) + ": " + classOf(p) + ")"
	}
	return w.seen[p]
}

// Worktree returns the repository of a Git worktree if dir is within a directory in which agents
// create worktrees, and "" otherwise.
func Worktree(dir string) string {
	slashed := slashes(dir) + "/"
	for _, parent := range []string{"/.worktrees/", "/.claude/worktrees/"} {
		if i := strings.LastIndex(slashed, parent); i > 0 && len(slashed) > i+len(parent) {
			return dir[:i]
		}
	}
	return ""
}

// classOf returns the class of a path outside the workspace. There are only a few classes, so a
// label reveals little about the path.
func classOf(p string) string {
	p = path.Clean(strings.TrimPrefix(slashes(p), "file:"))
	rooted := p
	if drive(p) {
		rooted = p[2:]
	}
	within := func(dirs ...string) bool {
		for _, dir := range dirs {
			if len(rooted) >= len(dir) && strings.EqualFold(rooted[:len(dir)], dir) {
				return true
			}
		}
		return false
	}

	switch inside := p + "/"; {
	case strings.Contains(inside, "/.git/hooks/"):
		return "git hook"
	case strings.Contains(inside, "/.git/"):
		return "git directory"
	case strings.Contains(inside, "/.claude/"), strings.Contains(inside, "/.codex/"):
		return "agent directory"
	case within("/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/"), strings.Contains(inside, "/AppData/Local/Temp/"):
		return "temporary"
	case p[0] == '~', within("/home/", "/Users/", "/root/"):
		return "below home"
	case within("/etc/", "/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/var/", "/boot/", "/dev/", "/Library/", "/System/", "/Windows/", "/Program Files"):
		return "system"
	}
	return "elsewhere"
}

// isBroad reports whether a directory usually contains more than one project. This applies to home
// directories, directories for temporary files, system directories, and directories that contain
// one of these.
func isBroad(dir string) bool {
	if classOf(dir+"/x") == "system" {
		return true
	}

	// The drive and letter case are ignored.
	dir = strings.ToLower(slashes(dir))
	if drive(dir) {
		dir = dir[2:]
	}
	switch dir {
	case "", "/", "/home", "/users", "/root", "/tmp", "/private", "/private/tmp", "/var/tmp", "/mnt", "/volumes":
		return true
	}

	// The home directory of a user contains all projects of that user.
	parent := path.Dir(dir)
	return parent == "/home" || parent == "/users"
}

// cleaned returns an absolute path, or the path in a file URL, without redundant elements (see
// [path.Clean]). Any other path is returned unchanged.
func cleaned(p string) string {
	p = ofURL(p)
	switch {
	case drive(p) && len(p) > 2 && (p[2] == '/' || p[2] == '\\'):
		return p[:2] + path.Clean(slashes(p[2:]))
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	}
	return p
}

// ofURL returns the path in a file URL that refers to this machine (RFC 8089 section 2). Any other
// path is returned unchanged.
func ofURL(p string) string {
	if len(p) < len("file:") || !strings.EqualFold(p[:len("file:")], "file:") {
		return p
	}

	// An empty host and localhost both refer to this machine (RFC 8089 section 2).
	at := p[len("file:"):]
	if rest, ok := strings.CutPrefix(at, "//"); ok {
		host, _, _ := strings.Cut(rest, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return p
		}
		at = rest[len(host):]
	}

	at, ok := unescaped(at)
	if !ok || !strings.HasPrefix(at, "/") {
		return p
	}
	if drive(at[1:]) {
		return at[1:]
	}
	return at
}

// unescaped decodes percent-encoding in a path (RFC 3986 section 2.1).
func unescaped(p string) (string, bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(p, "%")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if len(after) < 2 {
			return "", false
		}

		// A path cannot contain a NUL byte.
		c, err := hex.DecodeString(after[:2])
		if err != nil || c[0] == 0 {
			return "", false
		}
		b.WriteByte(c[0])
		p = after[2:]
	}
}

func absolute(p string) bool {
	p = slashes(p)
	return strings.HasPrefix(p, "/") || drive(p)
}
