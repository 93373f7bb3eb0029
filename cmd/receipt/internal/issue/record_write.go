package issue

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/redact"
)

// A keptLog writes the file of --log, whole or not at all: beside it first, as a
// log may be larger than memory. It holds what the task did, so only its owner may
// read it. The zero keptLog writes nothing.
type keptLog struct{ *cli.File }

func newKeptLog(path string, force bool) (*keptLog, error) {
	if path == "" {
		return &keptLog{}, nil
	}
	if path == cli.StdinName {
		return nil, cli.Usage("", "--log takes a file: the draft goes to stdout")
	}
	const ownerOnly = 0o600
	file, err := cli.NewFile(path, ownerOnly, force)
	if err != nil {
		return nil, err
	}
	return &keptLog{file}, nil
}

func (k *keptLog) add(line []byte) error {
	if k.File == nil {
		return nil
	}
	_, err := k.Write(line)
	return err
}

// checkLogPaths refuses a file that would take the place of another of this run.
func checkLogPaths(input string, o *recordOptions) error {
	same := func(a, b string) bool { return a != "" && a != cli.StdinName && b != "" && cli.SameFile(a, b) }
	switch secret := o.withheld.path; {
	case secret == cli.StdinName:
		return cli.Usage("", "--disclosures takes a file: withheld values belong on no terminal")
	case same(secret, o.output), same(secret, o.log):
		return cli.Usage("the draft is for everybody, the disclosures for nobody", "--disclosures names another file of this run, %q", secret)
	case same(secret, input):
		return cli.Usage("the log is what the draft is made of", "--disclosures names the input, %q", input)
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
	prepared, err := cli.PrepareFile(o.output, draft, 0o644, o.force)
	if err != nil {
		return err
	}
	defer prepared.Discard()

	if err := kept.finish(); err != nil {
		return err
	}
	return prepared.Commit()
}

// finish makes the file appear under its name.
func (k *keptLog) finish() error {
	if k.File == nil {
		return nil
	}
	return k.Commit()
}

// discard removes what was not finished.
func (k *keptLog) discard() {
	if k.File != nil {
		k.Discard()
	}
}

// A withheld collects the values that a draft withholds, with the salts of their commitments.
// It writes them to a file that only its owner may read.
type withheld struct {
	path   string
	force  bool
	values redact.Disclosures
}

// commit returns the commitment to a value.
func (w *withheld) commit(field string, value []byte) canon.Digest {
	for _, d := range w.values.Fields {
		if d.Field == field { // a draft may be made again
			return d.Commitment()
		}
	}
	var salt [16]byte
	rand.Read(salt[:])
	d := redact.Disclosure{Field: field, Salt: hex.EncodeToString(salt[:]), Value: value}
	w.values.Fields = append(w.values.Fields, d)
	return d.Commitment()
}

// write writes the values, and then what refers to them. If the latter fails, the values are
// removed again.
func (w *withheld) write(other func() error) error {
	if w.path == "" {
		return other()
	}
	file, err := cli.PrepareFile(w.path, w.values.Marshal(), 0o600, w.force)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := file.Commit(); err != nil {
		return err
	}
	if err := other(); err != nil {
		file.Withdraw()
		return err
	}
	return nil
}
