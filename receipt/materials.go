package receipt

import (
	"encoding/base64"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// weighMaterials checks what the receipt says of bytes that exist outside its own
// text: those that a material carries in bytes_base64, always, and the files of
// materials and final artifacts, when such were given. Other digests of a
// receipt are of states that have passed, or of values inside it.
func weighMaterials(root canon.Node, in Materials, seen *watched, schemaHolds bool, rep *Report) Check {
	if !schemaHolds {
		return Check{Step: StepHash, Status: StatusPassed} // and the schema has failed
	}
	files := fileSearch{in: in, watched: seen}

	// Bytes in the receipt itself are always checked.
	for _, m := range root.Member("replay_input").Member("materials").Elements() {
		inline := m.Member("bytes_base64")
		if inline.IsZero() {
			files.look(m)
			continue
		}
		if c := checkInline(m, inline, rep); c.Status != StatusPassed {
			return c
		}
	}

	// Where no files were given, that one is absent says nothing.
	if files.in == nil {
		return Check{Step: StepHash, Status: StatusPassed}
	}
	for _, a := range root.Member("final_artifacts").Elements() {
		files.look(a)
	}

	return files.result()
}

// checkInline compares the bytes that a material carries with its sha256. Without
// one they are only decoded.
func checkInline(m, inline canon.Node, rep *Report) Check {
	content, ok := decodeInline(rep, inline.Text())
	if !ok {
		return Check{Step: StepHash, Status: StatusFailed, Code: codeMaterialMismatch, Pointer: place(inline),
			Detail: fmt.Sprintf("expected strict padded standard base64 (RFC 4648 section 4), found a text of %d bytes", len(inline.Text()))}
	}

	stated, err := canon.ParseDigest(m.Member("sha256").Text())
	if err != nil { // absent, as the schema holds
		return Check{Step: StepHash, Status: StatusPassed}
	}

	// The digest is of the bytes, not of their base64.
	if computed := canon.Sum(content); computed != stated {
		return Check{Step: StepHash, Status: StatusFailed, Code: codeMaterialMismatch, Pointer: place(m.Member("sha256")), Stated: stated.String(), Computed: computed.String(),
			Detail: fmt.Sprintf("the %d bytes in bytes_base64 have another SHA-256 than stated", len(content))}
	}
	return Check{Step: StepHash, Status: StatusPassed}
}

// maxScratch bounds the memory that a Report keeps for the next receipt.
const maxScratch = 1 << 20

// decodeInline reads the one accepted encoding of some bytes. They are overwritten by
// the next call with the report.
func decodeInline(r *Report, text []byte) ([]byte, bool) {
	n := base64.StdEncoding.DecodedLen(len(text))
	if cap(r.scratch) < n {
		r.scratch = make([]byte, n)
	}

	content := r.scratch[:n]
	if n > maxScratch {
		r.scratch = nil
	}

	// RFC 4648 section 4: at most two characters of padding.
	padding := 0
	for padding < min(2, len(text)) && text[len(text)-1-padding] == '=' {
		padding++
	}

	decoded, err := base64.StdEncoding.Strict().Decode(content, text)
	// encoding/base64 skips line breaks: then it decodes to less than the length says.
	return content[:max(decoded, 0)], err == nil && len(text)%4 == 0 && decoded == n-padding
}

// A fileSearch looks for the files of a receipt.
type fileSearch struct {
	in      Materials
	watched *watched
	absent  int
	first   Check // the first file that is absent
	differs Check // the first file that holds something else
}

func (f *fileSearch) look(named canon.Node) {
	if f.in == nil || f.differs.Code != "" {
		return
	}
	node := named.Member("sha256")
	d, err := canon.ParseDigest(node.Text())
	if err != nil { // absent or null, as the schema holds
		return
	}

	// The receipt names a file by digest, so the files are of use, found or not.
	f.watched.see(pieceMaterials, 0)
	switch actual, found := f.in.Lookup(d); {
	case !found:
		f.absent++
		if f.absent == 1 {
			f.first = Check{Step: StepHash, Code: codeMaterialNotFound, Pointer: place(node), Stated: d.String()}
		}
	case actual != d:
		f.differs = Check{Step: StepHash, Status: StatusFailed, Code: codeMaterialMismatch, Pointer: place(node), Stated: d.String(), Computed: actual.String(),
			Detail: "the file of that digest holds something else"}
	}
}

func (f *fileSearch) result() Check {
	switch {
	case f.differs.Code != "":
		return f.differs
	case f.absent > 0:
		c := f.first
		c.Detail = "the receipt's own hash fits, but the file with the digest " + c.Stated + " is not among those given"
		if more := f.absent - 1; more > 0 {
			c.Detail += fmt.Sprintf(", nor are %d more", more)
		}
		return c
	}
	return Check{Step: StepHash, Status: StatusPassed}
}
