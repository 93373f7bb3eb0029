package issue

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/redact"
)

// checkLogPaths returns an error if two files of this run have the same path, or if the disclosures
// would be written to stdout.
func checkLogPaths(input string, o *recordOptions) error {
	same := func(a, b string) bool { return a != "" && a != cli.StdinName && b != "" && cli.SameFile(a, b) }
	switch secret := o.withheld.path; {
	case secret == cli.StdinName:
		return cli.Usage("", "--disclosures must be a file, because withheld values must not be printed")
	case same(secret, o.output.Path), same(secret, o.log):
		return cli.Usage("use separate files, because the draft is shared and the disclosures are not", "--disclosures names another file of this run, %q", secret)
	case same(secret, input):
		return cli.Usage("use another output file, because the draft is created from the log", "--disclosures names the input, %q", input)
	case same(o.log, o.output.Path):
		return cli.Usage("", "--log and --output name the same file, %q", o.output.Path)
	case same(o.log, input):
		return cli.Usage("use another output file, because the draft is created from the log", "--log names the input, %q", input)
	case same(o.output.Path, input):
		return cli.Usage("use another output file, because the draft is created from the log", "--output names the input, %q", input)
	}
	return nil
}

// writeRecorded writes the withheld values and the log, if they are to be stored, and then the
// draft.
func writeRecorded(e *cli.Env, o *recordOptions, kept *cli.File, draft []byte) error {
	var files []*cli.File
	if o.withheld.path != "" {
		secret, err := cli.PrepareFile(o.withheld.path, o.withheld.values.Marshal(), 0o600, o.output.Force)
		if err != nil {
			return err
		}
		files = append(files, secret)
	}
	if kept != nil {
		files = append(files, kept)
	}
	return writeAfter(e, &o.output, draft, files...)
}

// writeAfter writes files, and then a draft that would lose information without these files. It
// writes either all of them or none. All files are synced to disk before the first file is renamed.
// If the process is killed between two renames, only the draft is missing.
func writeAfter(e *cli.Env, output *cli.OutputFlags, draft []byte, files ...*cli.File) error {
	for _, file := range files {
		defer file.Discard()
	}

	// Output on stdout cannot be withdrawn, so the files are committed before the draft is printed.
	// The files remain even if printing fails.
	if output.Stdout() {
		if err := cli.CommitAll(files...); err != nil {
			return err
		}
		return output.Write(e, draft, 0o644)
	}

	public, err := cli.PrepareFile(output.Path, draft, 0o644, output.Force)
	if err != nil {
		return err
	}
	defer public.Discard()
	return cli.CommitAll(append(files, public)...)
}

// A withheld list collects the values that a draft withholds, and the salts of their commitments.
// They are written to a file that only its owner can read.
type withheld struct {
	path   string
	values redact.Disclosures
}

// commit returns the commitment to a value. It always returns the same commitment for the same
// field.
func (w *withheld) commit(field string, value []byte) canon.Digest {
	for _, d := range w.values.Fields {
		if d.Field == field { // a draft may be created several times
			return d.Commitment()
		}
	}
	var salt [16]byte
	rand.Read(salt[:])
	d := redact.Disclosure{Field: field, Salt: hex.EncodeToString(salt[:]), Value: value}
	w.values.Fields = append(w.values.Fields, d)
	return d.Commitment()
}
