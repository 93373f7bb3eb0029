package kind

import "slices"

// A Kind is a kind of file.
type Kind string

// The kinds. A file that may contain receipts is Unknown.
const (
	Unknown Kind = ""

	// Evidence and other files that accompany receipts.
	Keys        Kind = "keys"        // public keys: a JWK Set, a JWK, PEM, OpenSSH
	Checkpoint  Kind = "checkpoint"  // a signed note of a log (C2SP tlog-checkpoint)
	Proof       Kind = "proof"       // a proof that a receipt is in a checkpoint (C2SP tlog-proof)
	Consistency Kind = "consistency" // a proof that a checkpoint extends an earlier one
	Timestamp   Kind = "timestamp"   // a request to a timestamp authority, with or without its response
	Disclosures Kind = "disclosures" // withheld values
	Batch       Kind = "batch"       // a manifest of a batch
	Report      Kind = "report"      // the output of "receipt verify"
	Policy      Kind = "policy"      // requirements for a verification

	// Files that contain or attest to a receipt.
	Attestation Kind = "attestation" // a signed envelope in a Sigstore bundle
	statement   Kind = "statement"   // the content of an envelope, or an envelope without a bundle (in-toto, DSSE)

	// Third-party receipts that are not JSON. The other formats have kinds, too; see
	// ForeignReceipt.
	coseSign1 Kind = "cose-sign1"
	AELLine   Kind = "ael-line" // a line of an AEL recorder, possibly followed by others

	// Files from which receipts are created.
	Draft      Kind = "draft"      // a receipt that has not been sealed
	Events     Kind = "events"     // a log of the protocol's events
	Frames     Kind = "frames"     // a log of the frames of a bridge
	Transcript Kind = "transcript" // a log that an agent wrote
	Session    Kind = "session"    // a log of an agent that is not supported
	Export     Kind = "export"     // an export from a service that displays agent logs
	Bundle     Kind = "bundle"     // one run of an agent in one file
	Run        Kind = "run"        // the record of a run, as a harness stores it

	// Files that are unrelated to receipts, or that may contain receipts in an unsupported form.
	PrivateKey Kind = "private_key"
	Document   Kind = "document" // PDF, RTF, or a word processor document
	Archive    Kind = "archive"  // several files: ZIP, tar
	Packed     Kind = "packed"   // data in an unsupported compression format
	Image      Kind = "image"
	page       Kind = "page" // HTML
	xmlText    Kind = "xml"
	Ledger     Kind = "ledger"   // of this toolkit
	Database   Kind = "database" // of another program
	program    Kind = "program"
	mail       Kind = "mail"
	token      Kind = "token" // JWT, JWS
	Text       Kind = "text"  // text without any JSON
)

// Foreign reports whether a file contains no receipts and cannot be mistaken for a receipt. There
// is nothing in such a file to refute. Plain text is not foreign, because nothing shows that it was
// never a receipt.
func (k Kind) Foreign() bool {
	switch k {
	case Unknown, Draft, Keys, Timestamp, Disclosures, Batch, Report, Policy, Text:
		return false
	}
	return !k.ForeignReceipt()
}

// ForeignReceipt reports whether a file is a receipt, or other signed evidence, in a third-party
// format. The kind of such a file is the name of its format, such as "acta-envelope".
func (k Kind) ForeignReceipt() bool {
	is := func(f sign) bool { return f.Kind == k }
	return k == coseSign1 || k == AELLine || slices.ContainsFunc(foreignFormats(), is)
}

// Lines reports whether a file is a log with one JSON document per line.
func (k Kind) Lines() bool { return k == Events || k == Frames || k == Transcript }

// Beside reports whether a file contains evidence or keys for receipts.
func (k Kind) Beside() bool {
	switch k {
	case Keys, Checkpoint, Proof, Disclosures, Batch:
		return true
	}
	return false
}

// Found describes a file that was recognized.
type Found struct {
	Kind Kind   `json:"kind"`
	What string `json:"what"` // with its article, such as "a PDF document"; "" for Unknown
	Next string `json:"next"` // what to do, a sentence without its period; "" for Unknown; the caller adds commands
}

// A sign is a test that recognizes JSON values in a format.
type sign struct {
	Found
	is   func(sketch) bool
	form string // the name of the format, if the log of this agent is supported
}

// firstOf returns the first sign that matches a value, or the zero sign if no sign matches.
func firstOf(signs []sign, s sketch) sign {
	for _, x := range signs {
		if x.is(s) {
			return x
		}
	}
	return sign{}
}

// Head is the number of bytes of a file that are sufficient for Of. A longer JSON document is
// recognized only by its beginning.
const Head = 1 << 20

// Of recognizes a file by its first bytes. It examines at most [Head] bytes. The argument whole
// specifies whether head contains the entire file. For a compressed file, pass the first bytes of
// the decompressed content.
func Of(head []byte, whole bool) Found {
	head = head[:min(len(head), Head)]
	if f, ok := bySignature(head); ok {
		return f
	}
	if f, ok := foreignBytes(head); ok {
		return f
	}
	if f, ok := byText(head); ok {
		return f
	}
	f, receipt := byMembers(head, whole)

	// The signs of unsupported agents are more specific than the signs of transcripts.
	if receipt || f.Kind != Unknown && f.Kind != Transcript {
		return f
	}
	if other := bySession(head); other.Kind != Unknown {
		return other
	}

	return f
}
