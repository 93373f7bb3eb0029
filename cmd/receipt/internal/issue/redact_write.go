package issue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/redact"
)

// writeRedacted writes a redacted draft and what was withheld from it. Both are
// on the disk, under names of their own, before either gets its name: first the
// disclosures, without which the draft is worth less, then the draft. Killed in
// between, the disclosures are there alone; no file is ever there in part.
func writeRedacted(e *cli.Env, input string, o *redactOptions, result *redact.Result) error {
	draft := append(result.Draft, '\n')
	if o.disclosures == "" {
		return cli.WriteOutput(e, o.output, draft, 0o644, o.force)
	}

	toStdout := o.output == "" || o.output == cli.StdinName
	switch {
	case o.disclosures == cli.StdinName:
		return cli.Usage("", "--disclosures takes a file: withheld values belong on no terminal")
	case !toStdout && cli.SameFile(o.disclosures, o.output):
		return cli.Usage("the draft is for everybody, the disclosures for nobody", "--disclosures and --output name the same file, %q", o.output)
	case cli.SameFile(o.disclosures, input):
		return cli.Usage("", "--disclosures names the draft itself, %q", input)
	}

	secret, err := prepareFile(o.disclosures, result.Disclosures.Marshal(), 0o600, o.force)
	if err != nil {
		return err
	}
	defer secret.discard()

	if toStdout { // whoever reads it may have all of it when writing fails: the disclosures stay
		if err := secret.commit(); err != nil {
			return err
		}
		return cli.WriteOutput(e, o.output, draft, 0o644, o.force)
	}

	public, err := prepareFile(o.output, draft, 0o644, o.force)
	if err != nil {
		return err
	}
	defer public.discard()

	// When the draft cannot have its name, the disclosures lose theirs.
	if err := secret.commit(); err != nil {
		return err
	}
	if err := public.commit(); err != nil {
		secret.withdraw()
		return err
	}

	return nil
}

// A preparedFile is on the disk as a whole, and does not have its name yet.
type preparedFile struct {
	path, temp string
	replaces   bool // a file of that name
	named      bool
}

// prepareFile writes a file beside the one that it is going to be. An existing
// file is kept unless force is set.
func prepareFile(path string, data []byte, mode fs.FileMode, force bool) (*preparedFile, error) {
	replaces, err := cli.MayWrite(path, force)
	if err != nil {
		return nil, err
	}

	p := &preparedFile{path: path, replaces: replaces}
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}

	// Synced here, so that only the name is left to give.
	p.temp = f.Name()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		p.discard()
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}

	return p, nil
}

// commit gives the file its name, and has the folder written before anything
// else gets one.
func (p *preparedFile) commit() error {
	if err := os.Rename(p.temp, p.path); err != nil {
		return cli.Usage("", "%q: %w", p.path, cli.Reason(err))
	}
	p.named = true
	if folder, err := os.Open(filepath.Dir(p.path)); err == nil {
		folder.Sync() // where folders cannot be synced, their order is the system's
		folder.Close()
	}
	return nil
}

// discard removes what got no name.
func (p *preparedFile) discard() {
	if !p.named {
		os.Remove(p.temp)
	}
}

// withdraw removes a file that has its name, unless it replaced another.
func (p *preparedFile) withdraw() {
	if !p.replaces {
		os.Remove(p.path)
	}
}
