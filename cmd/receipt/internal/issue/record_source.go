package issue

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A logs value contains the open logs of one task.
type logs struct {
	inputs []source.Input
	heads  []*bufio.Reader
	done   []func()
}

// A summed reader computes the digest and the size of the bytes that it reads.
type summed struct {
	io.Reader
	hash hash.Hash
	size int64
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	return n, err
}

func (s *summed) sum() (canon.Digest, int64) { return canon.Digest(s.hash.Sum(nil)), s.size }

// openLogs opens logs. The draft identifies the logs by their base names.
func openLogs(ctx context.Context, e *cli.Env, paths []string, progress *cli.Progress) (*logs, error) {
	l := new(logs)
	for _, path := range paths {
		in, err := input.OpenInput(e, path)
		if err != nil {
			return l, err
		}
		lines := input.UntilDone(ctx, progress.Reader(in))
		l.done = append(l.done, func() { lines.Close(); in.Close() })
		name := filepath.Base(path)
		if path == cli.StdinName {
			name = "stdin"
		}

		// Logs may be compressed. The digest covers the bytes of the file, but the events are read
		// from the decompressed text.
		packed := &summed{Reader: lines, hash: sha256.New()}
		plain, _, done, err := unpack.Plain(bufio.NewReader(packed), unpack.Options{}, &packed.size)
		if err != nil {
			return l, cli.Usage("", "%q: %w", cli.SourceName(path), err)
		}
		l.done = append(l.done, done)
		head := bufio.NewReaderSize(plain, kind.Head)
		l.heads = append(l.heads, head)
		l.inputs = append(l.inputs, source.Input{Name: name, Reader: head, Sum: packed.sum}) // the digest covers the file as it is stored
	}
	return l, nil
}

// ofAgents reports whether the first lines of the first log have the format of an agent's log.
func (l *logs) ofAgents() bool {
	head, _ := l.heads[0].Peek(kind.Head)
	return source.Sight(head).Kind != source.Unknown
}

// declined returns an error if a log belongs to an agent that is recognized but not supported.
func (l *logs) declined(paths []string) error {
	for i, in := range l.heads {
		head, _ := in.Peek(kind.Head)
		if err := declined(paths[i], kind.Of(head, len(head) < kind.Head)); err != nil {
			return err
		}
	}
	return nil
}

// declined returns an error for a log of an unsupported agent or for a database, and nil for any
// other file.
func declined(path string, f kind.Found) error {
	switch f.Kind {
	case kind.Session:
		return notSupported(path, f.What, f.Next)
	case kind.Database:
		return notSupported(path, f.What, exportStore(filepath.Base(path)))
	}
	return nil
}

// notSupported returns the error for a file that is recognized but not supported.
func notSupported(path, what, next string) error {
	return cli.Refuted(next, "%q is %s, which is not supported", cli.SourceName(path), what)
}

// exportStore returns a hint for exporting a session from an agent's database. The name of the file
// determines the agent.
func exportStore(name string) string {
	switch name {
	case "opencode.db":
		return "export the session with OpenCode: opencode export SESSION > FILE"
	case "crush.db":
		return "export the session with Crush"
	}
	return "export the session with the agent's own command"
}

// close closes the logs in reverse order.
func (l *logs) close() {
	for _, done := range slices.Backward(l.done) {
		done()
	}
}

// sourceFailure describes why a log was not accepted, and the recommended action.
func sourceFailure(paths []string, err error) error {
	name := cli.SourceName(paths[0])
	var mixed *source.MixedError
	var session *source.SessionError
	switch {
	case errors.As(err, &session):
		return notSupported(paths[0], session.What, session.Next)
	case errors.Is(err, source.ErrUnknown):
		if f := input.KindOfFile(paths[0]); f.Kind != kind.Unknown && f.Kind != kind.Transcript {
			return cli.Usage(input.Next(f, paths[0]), "%q is not a supported log: it is %s", name, f.What)
		}
		return cli.Usage("expected a log of one of "+strings.Join(source.Names(), ", "), "%q: none of the first lines is from a supported log of an agent", name)
	case errors.Is(err, source.ErrEmpty):
		return cli.Usage("", "%q: no line records an action", name)
	case errors.As(err, &mixed):
		return cli.Usage("record the logs of each program separately", "%q is a log of %s, but the previous log is of %s", mixed.Name, mixed.Is, mixed.Other)
	}
	return recordFailure(paths[0], err)
}

// passedNotes describes the entries that the draft omits, and the sessions that it combines.
func passedNotes(p source.Passed) (notes []string) {
	total := 0
	for _, n := range p.Records {
		total += n
	}
	names := cli.BareNames(slices.Sorted(maps.Keys(p.Records)))
	if total > 0 {
		notes = append(notes, headline.NotRead(total, len(p.Records))+": "+names)
	}
	notes = appendCount(notes, p.Unreadable, "line is not a JSON object, and was skipped", "lines are not JSON objects, and were skipped")
	notes = appendCount(notes, p.Overlong, "line is too long, and was skipped", "lines are too long, and were skipped")
	notes = appendCount(notes, p.Repaired, "line contains half of a character, so no digest of it is computed", "lines contain halves of characters, so no digests of them are computed")
	for _, name := range p.Cut {
		notes = append(notes, fmt.Sprintf("%q ends in the middle of a line", name))
	}
	if n := len(p.Sessions); n > 1 {
		notes = append(notes, fmt.Sprintf("%d sessions are recorded as one task: %s", n, cli.BareNames(p.Sessions[:min(n, 10)])))
	}
	agents := cli.BareNames(p.Agents)
	return appendCount(notes, len(p.Agents), "agent worked for this one, but its log was not given: "+agents, "agents worked for this one, but their logs were not given: "+agents)
}
