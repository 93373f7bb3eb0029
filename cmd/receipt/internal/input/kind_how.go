package input

import (
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
)

// Next returns what to do with a file that is not a receipt: a command to copy if there is
// one, in which the user replaces the words in capitals, and otherwise the advice of the
// library.
func Next(f kind.Found, path string) string {
	file := cli.ShellFile(cli.SourceName(path))
	if how := nextHow(f.Kind, file); how != "" {
		return how
	}
	return f.Next
}

func nextHow(k kind.Kind, file string) string {
	if k.ForeignReceipt() {
		return "receipt verify " + file
	}
	switch k {
	// Files that contain receipts or become receipts.
	case Receipt:
		return "receipt verify " + file
	case kind.Draft:
		return "receipt seal " + file + " -o RECEIPT"
	case kind.Report:
		return "receipt merge " + file
	case kind.Attestation:
		return "receipt verify " + file

	// Evidence and requirements accompany receipts.
	case kind.Keys:
		return "receipt verify RECEIPT --keys " + file
	case kind.PrivateKey:
		return "keep it secret: receipt seal DRAFT --key " + file
	case kind.Batch:
		return "receipt verify RECEIPTS --batch " + file
	case kind.Checkpoint:
		return "receipt verify RECEIPTS --checkpoint " + file
	case kind.Proof:
		return "receipt verify RECEIPT --proof " + file
	case kind.Consistency:
		return "receipt batch consistency --from OLD --to NEW --check " + file
	case kind.Disclosures:
		return "receipt verify RECEIPT --disclosures " + file
	case kind.Policy:
		return "receipt verify RECEIPT --policy " + file

	// Files that other commands read.
	case kind.Ledger:
		return "receipt ledger fsck " + file
	case kind.Events, kind.Frames:
		return "receipt record " + file + " --issuer ID"
	case kind.Bundle:
		return "receipt bundle draft " + file + " --issuer ID"
	case kind.Run:
		return "receipt bundle export " + file + " -o BUNDLE"
	case kind.Export:
		return "create a receipt from a log of the agent or its telemetry: receipt record --help"
	case kind.Transcript:
		return "receipt record " + file + " --issuer ID"
	case kind.Archive:
		return "unpack it into a folder (tar -xf, unzip), then receipt verify FOLDER"
	}
	return ""
}

// remote returns how to get a file that is named by a URL; "" for a path.
func remote(path string) string {
	scheme, rest, found := strings.Cut(path, "://")
	if !found {
		return ""
	}

	// The query is not part of the name, and often contains a signature.
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
	return "fetch it: receipts are read from files, folders and stdin"
}
