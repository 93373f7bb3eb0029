package print

import (
	"bufio"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A ReportFile is written beside its place and moved there when it is whole, so
// that nobody reads a part of it.
type ReportFile struct {
	*bufio.Writer
	path string
	temp *os.File // nil once it is moved or removed
}

// NewReportFile begins a report, which appears under its name when it is committed.
func NewReportFile(path string, force bool) (*ReportFile, error) {
	if _, err := cli.MayWrite(path, force); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}
	return &ReportFile{bufio.NewWriterSize(f, 64<<10), path, f}, nil
}

// Commit gives the report its name.
func (r *ReportFile) Commit() (err error) {
	f := r.temp
	defer func() {
		if err != nil {
			r.Discard()
			err = cli.Usage("", "%q: %w", r.path, cli.Reason(err))
		}
	}()

	// The content is on the disk before it gets the name.
	if err = r.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}

	if err = os.Rename(f.Name(), r.path); err == nil {
		r.temp = nil
	}

	return err
}

// Discard removes a report that was not committed.
func (r *ReportFile) Discard() {
	if r.temp != nil {
		r.temp.Close()
		os.Remove(r.temp.Name())
		r.temp = nil
	}
}
