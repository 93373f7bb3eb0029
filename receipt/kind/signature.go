package kind

import "bytes"

// What to do with a file that is none of ours.
const (
	askForFile = "ask the sender for the receipt itself, a JSON file; what was made from one cannot be verified"
	unpack     = "unpack it, and give the receipts that are in it"
)

// A signature is what files of a format begin with, at an offset.
type signature struct {
	at    int
	bytes string
	found Found
}

func signatures() []signature {
	document := func(what string) Found { return Found{Document, what, askForFile} }
	image := func(what string) Found {
		return Found{Image, what, "ask the sender for the receipt itself, a JSON file; a picture of one cannot be verified"}
	}
	archive := func(what string) Found { return Found{Archive, what, unpack} }
	program := Found{Program, "a program", "ask the sender for the receipt itself, a JSON file, and do not run what you were sent"}

	return []signature{
		{0, "%PDF-", document("a PDF document")},
		{0, `{\rtf`, document("an RTF document")},
		{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", document("an Office document")},
		{0, "PK\x03\x04", archive("a ZIP archive, or a document that is one")},
		{0, "PK\x05\x06", archive("an empty ZIP archive")},
		{257, "ustar", archive("a tar archive")},
		{0, "7z\xbc\xaf\x27\x1c", archive("a 7z archive")},
		{0, "Rar!\x1a\x07", archive("a RAR archive")},
		{0, "\xfd7zXZ\x00", Found{Packed, "a file compressed with xz", "unpack it; only gzip and zstd are read"}},
		{0, "BZh", Found{Packed, "a file compressed with bzip2", "unpack it; only gzip and zstd are read"}},
		{0, "\x89PNG\r\n\x1a\n", image("a PNG image")},
		{0, "\xff\xd8\xff", image("a JPEG image")},
		{0, "GIF8", image("a GIF image")},
		{8, "WEBP", image("a WebP image")},
		{0, "II*\x00", image("a TIFF image")},
		{0, "MM\x00*", image("a TIFF image")},
		{4, "ftyphei", image("a HEIC image")},
		{4, "ftypavif", image("an AVIF image")},
		{0, "SQLite format 3\x00", Found{Database, "an SQLite database, and not a ledger", askForFile}},
		{0, "\x7fELF", program},
		{0, "MZ\x90\x00", program},
		{0, "\xcf\xfa\xed\xfe", program},
		{0, "\x00asm", program},
	}
}

// ledgerID is the application id of a ledger, at its offset in a file of SQLite
// (sqlite.org/fileformat.html, section 1.3).
const (
	ledgerID = "rcpt"
	idOffset = 68
)

func bySignature(head []byte) (Found, bool) {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && len(head) > idOffset && bytes.HasPrefix(head[idOffset:], []byte(ledgerID)) {
		return Found{Ledger, "a ledger", "export the receipts of it, and give those"}, true
	}
	for _, s := range signatures() {
		if len(head) > s.at && bytes.HasPrefix(head[s.at:], []byte(s.bytes)) {
			return s.found, true
		}
	}
	return Found{}, false
}
