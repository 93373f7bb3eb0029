package input

import "github.com/receiptkit/receiptkit/receipt/kind"

// KindNext says what to do with a file that is not a receipt, and how with this
// command.
func KindNext(f kind.Found) string {
	if how := kindHow(f.Kind); how != "" {
		return f.Next + ": " + how
	}
	return f.Next
}

func kindHow(k kind.Kind) string {
	switch k {
	case kind.Draft:
		return "receipt seal FILE --key KEY"
	case kind.Keys:
		return "--keys FILE, for a JWK Set; receipt keys import FILE makes one of others"
	case kind.Batch:
		return "--batch FILE"
	case kind.Checkpoint:
		return "--checkpoint FILE"
	case kind.Proof:
		return "--proof FILE"
	case kind.Disclosures:
		return "--disclosures FILE"
	case kind.Policy:
		return "--policy FILE"
	case kind.Events, kind.Frames, kind.Transcript:
		return "receipt record FILE"
	case kind.Database:
		return "receipt ledger export FILE"
	case kind.PrivateKey:
		return "receipt keys export writes them"
	}
	return ""
}
