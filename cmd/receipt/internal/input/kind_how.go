package input

import (
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
)

// Next returns the recommended action for a file that is not a receipt. If there is a command that
// the user can copy, Next returns that command, with placeholders in capitals. Otherwise, it
// returns the recommendation of package kind.
func Next(f kind.Found, path string) string {
	file := cli.ShellFile(cli.SourceName(path))
	if how := nextHow(f.Kind, file); how != "" {
		return how
	}
	return f.Next
}

// nextHow returns the command for a kind of file, or "" if there is none.
func nextHow(k kind.Kind, file string) string {
	if k.ForeignReceipt() {
		k = Receipt
	}
	return strings.Replace(map[kind.Kind]string{
		// These files contain receipts, or are used to create receipts.
		Receipt:          "receipt verify FILE",
		kind.Draft:       "receipt seal FILE -o RECEIPT",
		kind.Report:      "receipt merge FILE",
		kind.Attestation: "receipt verify FILE",

		// Evidence and requirements that accompany receipts.
		kind.Keys:        "receipt verify RECEIPT --keys FILE",
		kind.PrivateKey:  "keep it secret: receipt seal DRAFT --key FILE",
		kind.Batch:       "receipt verify RECEIPTS --batch FILE",
		kind.Checkpoint:  "receipt verify RECEIPTS --checkpoint FILE",
		kind.Proof:       "receipt verify RECEIPT --proof FILE",
		kind.Consistency: "receipt batch consistency --from OLD --to NEW --check FILE",
		kind.Timestamp:   "receipt verify RECEIPTS --timestamp FILE --timestamp-roots ROOTS",
		kind.Disclosures: "receipt verify RECEIPT --disclosures FILE",
		kind.Policy:      "receipt verify RECEIPT --policy FILE",

		// Files that other commands read.
		kind.Ledger:     "receipt ledger fsck FILE",
		kind.Events:     "receipt record FILE --issuer ID",
		kind.Frames:     "receipt record FILE --issuer ID",
		kind.Transcript: "receipt record FILE --issuer ID",
		kind.Bundle:     "receipt bundle draft FILE --issuer ID",
		kind.Run:        "receipt bundle export FILE -o BUNDLE",
		kind.Export:     "create a receipt from a log of the agent or its telemetry: receipt record --help",
		kind.Archive:    "unpack it into a directory (tar -xf, unzip), and run receipt verify DIR",
	}[k], "FILE", file, 1)
}

// remote returns instructions for a URL, or "" for a path.
func remote(path string) string {
	scheme, rest, found := strings.Cut(path, "://")
	if !found {
		return ""
	}

	// The query is not part of the file name, and often contains a signature.
	rest, _, _ = strings.Cut(rest, "?")
	name := rest[strings.LastIndexByte(rest, '/')+1:]
	if name == "" || !strings.Contains(rest, "/") {
		name = "receipt.json"
	}
	file, quoted := cli.ShellFile(name), "URL"
	if !strings.ContainsAny(path, "?@") {
		quoted = cli.ShellName(path)
	}

	switch strings.ToLower(scheme) {
	case "http", "https", "ftp":
		return "fetch it: curl -fsSLo " + file + " " + quoted
	case "s3":
		return "fetch it: aws s3 cp " + quoted + " " + file
	case "gs":
		return "fetch it: gcloud storage cp " + quoted + " " + file
	case "file":
		return "give the path: " + cli.ShellFile(rest)
	}
	return "fetch it: receipts are read from files, directories, and stdin"
}
