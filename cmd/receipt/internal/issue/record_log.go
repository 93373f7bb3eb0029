package issue

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A keptLog writes the file of --log, whole or not at all: beside it first, as a
// log may be larger than memory. It holds what the task did, so only its owner may
// read it. The zero keptLog writes nothing.
type keptLog struct {
	path string
	file *os.File
	out  *bufio.Writer
}

func newKeptLog(path string, force bool) (*keptLog, error) {
	if path == "" {
		return &keptLog{}, nil
	}
	if path == cli.StdinName {
		return nil, cli.Usage("", "--log takes a file: the draft goes to stdout")
	}
	if _, err := cli.MayWrite(path, force); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*") // mode 0600
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}
	return &keptLog{path, f, bufio.NewWriter(f)}, nil
}

func (k *keptLog) add(line []byte) error {
	if k.file == nil {
		return nil
	}
	_, err := k.out.Write(line)
	return k.fault(err)
}

// checkLogPaths refuses a file that would take the place of another of this run.
func checkLogPaths(input string, o *recordOptions) error {
	same := func(a, b string) bool { return a != "" && a != cli.StdinName && b != "" && cli.SameFile(a, b) }
	switch {
	case same(o.log, o.output):
		return cli.Usage("", "--log and --output name the same file, %q", o.output)
	case same(o.log, input):
		return cli.Usage("the log is what the draft is made of", "--log names the input, %q", input)
	case same(o.output, input):
		return cli.Usage("the log is what the draft is made of", "--output names the input, %q", input)
	}
	return nil
}

// writeRecorded writes the draft, and before it the log that the draft names. When
// one cannot be written, neither is there.
func writeRecorded(e *cli.Env, o *recordOptions, kept *keptLog, draft []byte) error {
	if o.output == "" || o.output == cli.StdinName {
		if err := kept.finish(); err != nil {
			return err
		}
		return cli.WriteOutput(e, o.output, draft, 0o644, o.force)
	}

	// The draft is on the disk when the log gets its name, and gets its own after it.
	prepared, err := prepareFile(o.output, draft, 0o644, o.force)
	if err != nil {
		return err
	}
	defer prepared.discard()

	if err := kept.finish(); err != nil {
		return err
	}
	return prepared.commit()
}

// finish makes the file appear under its name.
func (k *keptLog) finish() error {
	if k.file == nil {
		return nil
	}
	err := errors.Join(k.out.Flush(), k.file.Sync(), k.file.Close())
	if err == nil {
		err = os.Rename(k.file.Name(), k.path)
	}
	if err != nil {
		return k.fault(err)
	}
	k.file = nil
	return nil
}

// discard removes what was not finished.
func (k *keptLog) discard() {
	if k.file != nil {
		k.file.Close()
		os.Remove(k.file.Name())
	}
}

func (k *keptLog) fault(err error) error {
	if err == nil {
		return nil
	}
	return cli.Usage("", "%q: %w", k.path, cli.Reason(err))
}
