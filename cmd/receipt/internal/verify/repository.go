package verify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// Limits for a search in a repository. Blobs that exceed the limits are counted as unread.
const (
	maxBlobs   = 1 << 20
	maxContent = 4 << 30 // total size of all blobs in bytes
	maxPlaces  = 16      // number of paths that are stored for one blob
	maxMessage = 300     // maximum number of bytes that are stored of a message from Git
)

// A repository is a Git repository. Git itself reads the repository. Nothing is written, and
// nothing is fetched.
type repository struct {
	dir     string
	commits int
	shallow bool // older commits are missing
	blobs   map[string]*blob
	order   []*blob // oldest first
	unread  int     // number of blobs that exceed the limits, or that are missing in a partial clone
	content int64
}

// A blob is the content of a file in a commit.
type blob struct {
	id     string
	places []commitPath
}

// A commitPath is a path of a blob, together with the oldest commit in which this path has the
// content of the blob.
type commitPath struct{ commit, path string }

// at returns a place of a blob. It prefers a place whose path is, or ends with, the path of a
// written file. If there is no such place, it returns the oldest place.
func (b *blob) at(written string) commitPath {
	for _, p := range b.places {
		if p.path == written || strings.HasSuffix(p.path, "/"+written) {
			return p
		}
	}
	return b.places[0]
}

// openRepository lists the blobs of all commits that can be reached from a reference in a
// repository. The directory may be a working tree, a linked working tree, a bare repository, or a
// directory inside one of them.
func openRepository(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir, blobs: map[string]*blob{}}
	state := r.git(ctx, "rev-parse", "--is-shallow-repository")
	shallow, err := state.Output()
	if err != nil {
		return nil, trouble(state, err)
	}
	r.shallow = string(bytes.TrimSpace(shallow)) == "true"

	commits := r.git(ctx, "rev-list", "--all", "--topo-order", "--reverse")
	changes := r.git(ctx, "diff-tree", "--stdin", "--always", "-r", "-c", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
	if changes.Stdin, err = commits.StdoutPipe(); err != nil {
		return nil, err
	}
	listed, err := changes.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(commits.Start(), changes.Start()); err != nil {
		return nil, err
	}
	err = r.list(bufio.NewReader(listed))
	if err = errors.Join(trouble(changes, changes.Wait()), trouble(commits, commits.Wait()), err); err != nil {
		return nil, err
	}

	return r, nil
}

// git returns a Git command that does not write, prompt, fetch missing objects, or run programs
// that the repository specifies.
func (r *repository) git(ctx context.Context, args ...string) *exec.Cmd {
	safe := []string{"-C", r.dir, "--no-pager", "--no-replace-objects", "--no-optional-locks", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}
	c := exec.CommandContext(ctx, "git", append(safe, args...)...)

	// The variables that Git sets for a hook would select another repository.
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	c.Stderr = new(message)
	c.Env = append(c.Env, "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return c
}

// A message stores the beginning of what a Git command writes to stderr.
type message struct{ text []byte }

func (m *message) Write(b []byte) (int, error) {
	m.text = append(m.text, b[:min(len(b), maxMessage-len(m.text))]...)
	return len(b), nil
}

// trouble returns the error of a Git command, with the first line of its message.
func trouble(c *exec.Cmd, err error) error {
	m, ok := c.Stderr.(*message)
	if err == nil || !ok || len(m.text) == 0 {
		return err
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(string(m.text), "fatal: "), "\n")
	return fmt.Errorf("git reports %s", untrusted.Quote(said, maxMessage))
}

// list reads the output of "git diff-tree", which contains the ID of each commit, followed by
// records of the paths that changed in the commit.
func (r *repository) list(in *bufio.Reader) error {
	commit := ""
	for {
		word, err := in.ReadString(0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}

		word = strings.TrimSuffix(word, "\x00")
		if !strings.HasPrefix(word, ":") {
			commit = word
			r.commits++
			continue
		}
		name, err := in.ReadString(0)
		if err != nil {
			return fmt.Errorf("the list of changes ends in commit %s", commit)
		}
		if id := blobOf(word); id != "" {
			r.add(id, commitPath{commit, strings.TrimSuffix(name, "\x00")})
		}
	}
}

// blobOf returns the blob in a record of "git diff-tree". For each parent of the commit, the record
// contains one colon, mode, and ID. It also contains the mode and the ID in the commit itself.
// blobOf returns "" unless the record is about a regular file.
func blobOf(record string) string {
	fields := strings.Fields(strings.TrimLeft(record, ":"))
	parents := len(record) - len(strings.TrimLeft(record, ":"))
	if len(fields) < 2*parents+2 || !strings.HasPrefix(fields[parents], "100") {
		return ""
	}
	return fields[2*parents+1]
}

func (r *repository) add(id string, at commitPath) {
	b := r.blobs[id]
	switch {
	case b == nil && len(r.order) >= maxBlobs:
		r.unread++
		return
	case b == nil:
		b = &blob{id: id}
		r.blobs[id] = b
		r.order = append(r.order, b)
	case len(b.places) >= maxPlaces, slices.ContainsFunc(b.places, func(p commitPath) bool { return p.path == at.path }):
		return
	}
	b.places = append(b.places, at)
}

// find returns the blobs whose content has one of the digests. It first reads blobs of files with
// the given names. It then reads all other blobs, starting with the newest, until every digest is
// found.
func (r *repository) find(ctx context.Context, digests map[canon.Digest]bool, names map[string]bool) (map[canon.Digest]*blob, error) {
	likely := func(b *blob) bool {
		return slices.ContainsFunc(b.places, func(p commitPath) bool { return names[path.Base(p.path)] })
	}
	var first, rest []*blob
	for _, b := range slices.Backward(r.order) {
		if likely(b) {
			first = append(first, b)
		} else {
			rest = append(rest, b)
		}
	}
	all := append(first, rest...)

	until, stop := context.WithCancel(ctx)
	defer stop()
	cat := r.git(until, "cat-file", "--batch", "--buffer")
	var ids strings.Builder
	for _, b := range all {
		ids.WriteString(b.id + "\n")
	}
	cat.Stdin = strings.NewReader(ids.String())
	out, err := cat.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cat.Start(); err != nil {
		return nil, err
	}

	found, err := r.match(bufio.NewReaderSize(out, 1<<20), all, digests)

	// Once every digest is found, the remaining blobs are not needed.
	stop()
	_ = cat.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return found, err
}

// match reads blobs in the output format of "git cat-file --batch".
func (r *repository) match(in *bufio.Reader, blobs []*blob, digests map[canon.Digest]bool) (map[canon.Digest]*blob, error) {
	found := map[canon.Digest]*blob{}
	for i, b := range blobs {
		switch {
		case len(found) == len(digests):
			return found, nil
		case r.content >= maxContent:
			r.unread += len(blobs) - i
			return found, nil
		}

		head, err := in.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git stopped at the blob %s", b.id)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 {
			r.unread++ // for example, "ID missing" in a partial clone
			continue
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, err
		}

		// A line feed follows the content.
		sum := sha256.New()
		if _, err := io.CopyN(sum, in, size); err != nil {
			return nil, err
		}
		if _, err := in.Discard(1); err != nil {
			return nil, err
		}
		r.content += size
		if d := canon.Digest(sum.Sum(nil)); digests[d] && found[d] == nil {
			found[d] = b
		}
	}
	return found, nil
}
