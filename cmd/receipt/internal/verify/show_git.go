package verify

import (
	"context"
	"fmt"
	"path"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// A writtenFile is a path with two contents: the content before the first write that a receipt
// lists, and the content after the last write.
type writtenFile struct {
	path          string
	before, after canon.Node
}

// A commits value finds the contents of written files in a repository.
type commits struct{ *Shown }

// write prints, for each written file, the commits of a repository that contain the contents of the
// file.
func (s commits) write(ctx context.Context, dir string) error {
	files := s.writtenFiles()
	digests, names := map[canon.Digest]bool{}, map[string]bool{}
	for _, f := range files {
		names[path.Base(f.path)] = true
		for _, n := range []canon.Node{f.before, f.after} {
			if d, err := canon.ParseDigest(n.Text()); err == nil && !s.Hidden(n) {
				digests[d] = true
			}
		}
	}

	r, err := openRepository(ctx, dir)
	if err != nil {
		return cli.Usage("name a git repository", "reading %q: %w", cli.SourceName(dir), err)
	}
	found, err := r.find(ctx, digests, names)
	if err != nil {
		return cli.Usage("", "reading %q: %w", cli.SourceName(dir), err)
	}

	text := fmt.Sprintf("%d of %s found in %s", len(found), cli.Plural(len(digests), "digest", ""), cli.Plural(r.commits, "commit", ""))
	if r.unread > 0 {
		text += fmt.Sprintf(", %s not read", cli.Plural(r.unread, "blob", ""))
	}
	if r.shallow {
		text += ", older commits are missing (shallow clone)"
	}
	s.b.Row("git", text)
	for _, f := range files {
		s.b.Row("", f.path)
		s.b.Row("", "  before "+s.origin(f.before, f.path, found))
		s.b.Row("", "  after  "+s.origin(f.after, f.path, found))
	}

	return nil
}

// writtenFiles returns the files that the receipt lists, in the order of their first writes.
func (s commits) writtenFiles() (files []*writtenFile) {
	by := map[string]*writtenFile{}
	for _, n := range s.Root.Member("side_effects").Member("fs_writes").Elements() {
		name := n.Member("path").String()
		f := by[name]
		if f == nil {
			f = &writtenFile{path: name, before: n.Member("before_sha256")}
			by[name] = f
			files = append(files, f)
		}
		f.after = n.Member("after_sha256")
	}
	return files
}

// origin returns the commit and the path of the content with a digest. If they are unknown, it
// returns the reason.
func (s commits) origin(n canon.Node, written string, found map[canon.Digest]*blob) string {
	d, err := canon.ParseDigest(n.Text())
	switch {
	case n.IsZero(), s.Hidden(n):
		return headline.NotRecorded
	case n.Kind() == canon.KindNull:
		return "no file"
	case err != nil:
		return "not a digest"
	case found[d] == nil:
		return "not found"
	}
	at := found[d].at(written)
	return at.commit + " " + at.path
}
