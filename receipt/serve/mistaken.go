package serve

import (
	"bytes"
	"slices"

	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// These are hints for bodies that do not match their Content-Type.
const (
	sendLines    = "several receipts are sent as " + mediaNDJSON + ", one a line"
	sendDocument = "this is one document of several lines: send it as " + mediaJSON
	sendUnpacked = "this is compressed: send it decompressed; a stream, " + mediaNDJSON + ", may be compressed"
	sendArchive  = "this looks like CBOR: send it as " + mediaCBOR
)

// hint adds a hint to a report on a body that is not a receipt. The hint describes what the body is
// and what to send instead. The hint does not change the verdict or the codes.
func hint(rep *receipt.Report, data []byte, form stream.Kind) {
	if noReceipt(rep) {
		setHint(rep, instead(data, form, rep.Finding()))
	}
}

// hintFirst adds such a hint to the report on the first line of a stream. head is the beginning of
// the stream.
func hintFirst(rep *receipt.Report, head []byte) {
	if rep.Index != 1 || !noReceipt(rep) {
		return
	}

	// The first line of formatted JSON contains only a brace.
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if text := string(bytes.TrimSpace(first)); text == "{" || text == "[" {
		setHint(rep, sendDocument)
		return
	}
	setHint(rep, named(head, false))
}

// setHint adds a hint to the finding of a refuted report, unless the finding already has a better
// hint. A hint about two documents in one file does not help a client that sends no files, so it is
// replaced.
func setHint(rep *receipt.Report, text string) {
	i := slices.IndexFunc(rep.Checks, func(c receipt.Check) bool { return c.Status == receipt.StatusFailed })
	if c := &rep.Checks[i]; text != "" && (c.Hint == "" || c.Code == receipt.CodeTrailingData) {
		c.Hint = text
	}
}

// instead returns advice on what to send instead of a body, or at least a description of the body.
// If neither is known, it returns "".
func instead(data []byte, form stream.Kind, why receipt.Check) string {
	text := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case form == stream.JSON && begins(data, stream.CBOR):
		return sendArchive
	case bytes.HasPrefix(text, []byte("[")), isPage(text):
		return sendLines
	case unpack.Format(data) != "":
		return sendUnpacked
	}

	// The log of a task also consists of several documents.
	what := named(data, true)
	if what == "" && why.Code == receipt.CodeTrailingData && why.Hint != "" {
		return sendLines
	}
	return what
}

// isPage reports whether text begins like a list in the protocol.
func isPage(text []byte) bool {
	const begin, seen = `{"object":"list"`, 128
	return bytes.HasPrefix(bytes.Join(bytes.Fields(text[:min(len(text), seen)]), nil), []byte(begin))
}

// named returns a description of a body without receipts, and what to do with the body. It returns
// "" if the kind of the body is not known. Files that accompany receipts are useful only together
// with the receipts, and no route accepts both.
func named(head []byte, whole bool) string {
	found := kind.Of(head, whole)
	if found.Kind == kind.Unknown {
		return ""
	}

	text := "this is " + found.What + ": " + found.Next
	if found.Kind.Beside() || found.Kind == kind.Policy || found.Kind == kind.Consistency {
		text += "; only receipts are sent here"
	}
	return text
}
