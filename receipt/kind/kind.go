package kind

// A Kind is what a file is.
type Kind string

// The kinds. What may hold receipts is Unknown.
const (
	Unknown Kind = ""

	// What lies beside receipts.
	Keys        Kind = "keys"        // public keys: a JWK Set, a JWK, PEM, OpenSSH
	Checkpoint  Kind = "checkpoint"  // a signed note of a log (C2SP tlog-checkpoint)
	Proof       Kind = "proof"       // that a receipt is in a checkpoint (C2SP tlog-proof)
	Consistency Kind = "consistency" // that a checkpoint extends an earlier one
	Disclosures Kind = "disclosures" // withheld values
	Batch       Kind = "batch"       // a manifest of a batch
	Report      Kind = "report"      // what receipt verify wrote
	Policy      Kind = "policy"      // what receipt verify is told to demand

	// What is around a receipt.
	Attestation Kind = "attestation" // a signed envelope in a bundle (Sigstore)
	statement   Kind = "statement"   // what stands in such an envelope, or the envelope alone (in-toto, DSSE)

	// What becomes a receipt.
	Draft      Kind = "draft"      // a receipt that is not sealed
	Events     Kind = "events"     // a log of the protocol's events
	Frames     Kind = "frames"     // a log of the frames of a bridge
	Transcript Kind = "transcript" // a log that an agent wrote for itself
	Session    Kind = "session"    // such a log of an agent that is not read
	Export     Kind = "export"     // of a service that shows such logs
	Bundle     Kind = "bundle"     // one run of an agent in one file
	Run        Kind = "run"        // what a harness keeps of a run

	// What has nothing to do with receipts, or hides them.
	PrivateKey Kind = "private_key"
	Document   Kind = "document" // PDF, RTF, a word processor's
	Archive    Kind = "archive"  // of several files: ZIP, tar
	Packed     Kind = "packed"   // compressed in a way that is not read here
	Image      Kind = "image"
	page       Kind = "page" // HTML
	xmlText    Kind = "xml"
	Ledger     Kind = "ledger"   // of this toolkit
	Database   Kind = "database" // of another program
	program    Kind = "program"
	mail       Kind = "mail"
	token      Kind = "token" // JWT, JWS
	Text       Kind = "text"  // words without any JSON
)

// Foreign reports whether such a file holds no receipts and is none of the JSON
// documents that could be taken for one: nothing in it is false for that. Words are
// judged, as what is not JSON is: nothing shows that they were never a receipt.
func (k Kind) Foreign() bool {
	switch k {
	case Unknown, Draft, Keys, Disclosures, Batch, Report, Policy, Text:
		return false
	}
	return true
}

// Lines reports whether such a file is a log, a JSON document a line.
func (k Kind) Lines() bool { return k == Events || k == Frames || k == Transcript }

// Beside reports whether such a file is evidence, or keys, for receipts.
func (k Kind) Beside() bool {
	switch k {
	case Keys, Checkpoint, Proof, Disclosures, Batch:
		return true
	}
	return false
}

// A Found file is what Of says of it.
type Found struct {
	Kind Kind   `json:"kind"`
	What string `json:"what"` // with its article, such as "a PDF document"; "" for Unknown
	Next string `json:"next"` // what to do, a sentence without its full stop; "" for Unknown; how is for who shows it
}

// Head is how many bytes of a file are enough for Of. A JSON document is seen whole
// only when it is not longer.
const Head = 1 << 20

// Of tells what a file is by its first bytes, at most [Head] of them. Whole says that
// these are all. Compressed files are told by what is in them: give the first bytes
// of that.
func Of(head []byte, whole bool) Found {
	head = head[:min(len(head), Head)]
	if f, ok := bySignature(head); ok {
		return f
	}
	if f, ok := byText(head); ok {
		return f
	}
	f, receipt := byMembers(head, whole)
	if receipt || f.Kind != Unknown && f.Kind != Transcript {
		return f
	}
	if other := bySession(head); other.Kind != Unknown {
		return other
	}
	return f
}
