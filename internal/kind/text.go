package kind

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// byText recognizes text formats other than JSON. A file that may contain a damaged receipt, such
// as a receipt quoted in an e-mail, is not recognized.
func byText(head []byte) (Found, bool) {
	text := strings.TrimLeft(string(bytes.TrimPrefix(head, []byte("\ufeff"))), " \t\r\n")
	switch {
	case text == "":
		return Found{}, false
	case strings.HasPrefix(text, "age-encryption.org/v1\n"):
		return encrypted(), true
	case strings.HasPrefix(text, "-----BEGIN "):
		return armored(text), true
	case hasAny(text, "ssh-ed25519 ", "ssh-rsa ", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"):
		return Found{Keys, "a public key of OpenSSH", "add it to the trusted keys, and specify the issuer that it may speak for"}, true
	case strings.HasPrefix(text, "c2sp.org/tlog-proof@v1\n"):
		return Found{Proof, "a proof that a receipt is in a checkpoint", "pass it together with that receipt"}, true
	case strings.HasPrefix(text, "receiptkit/consistency-proof@v1\n"):
		return Found{Consistency, "a proof that a checkpoint extends an earlier one", "pass it together with both checkpoints"}, true
	case strings.HasPrefix(text, "# aider chat started at"):
		return Found{Session, "a session of Aider", readTelemetry}, true
	case isNote(text):
		return Found{Checkpoint, "a signed checkpoint of a log", "pass it together with the receipts that it covers"}, true
	case isToken(text):
		return Found{token, "a JSON Web Token", "ask the sender for the receipt itself, a JSON file, which contains its signatures"}, true
	}

	if f, ok := markup(text); ok {
		return f, true
	}

	// Braces and brackets may be part of a receipt that is embedded in other text.
	if strings.ContainsAny(text, "{[") {
		return Found{}, false
	}
	if isMail(text) {
		return Found{mail, "an e-mail", "save the attachment, and pass that file"}, true
	}
	if isProse(text) {
		return Found{Text, "a text without any receipt in it", "ask the sender for the receipt itself, a JSON file, as an attachment"}, true
	}

	return Found{}, false
}

func hasAny(text string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// armored recognizes a PEM file by its BEGIN line (RFC 7468).
func armored(text string) Found {
	line, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.Contains(line, "PRIVATE KEY"):
		return privateKey()
	case strings.Contains(line, "AGE ENCRYPTED FILE"):
		return encrypted()
	case strings.Contains(line, "PGP"):
		return Found{Text, "a PGP message or key", "ask the sender for the receipt itself, a JSON file, which contains its signatures"}
	}
	return Found{Keys, "a public key or a certificate", "add a public key to the trusted keys, and specify the issuer that it may speak for"}
}

// encrypted describes an age file (C2SP age), which only the owner of the key can read.
func encrypted() Found {
	return Found{Packed, "an encrypted file (age)", "decrypt it, and pass the content; private keys are encrypted like this, too"}
}

func privateKey() Found {
	return Found{PrivateKey, "a private key", "keep it secret: verifying needs public keys only"}
}

// isNote reports whether text is a signed note (C2SP signed-note) in the form of a checkpoint: an
// origin, a decimal size, a root, and, after a blank line, signatures that begin with an em dash.
func isNote(text string) bool {
	body, signed, found := strings.Cut(text, "\n\n\u2014 ")
	lines := strings.Split(body, "\n")
	return found && signed != "" && len(lines) >= 3 && lines[1] != "" && strings.Trim(lines[1], "0123456789") == ""
}

// isToken reports whether text is the compact form of a JWS or JWE (RFC 7515, 7516).
func isToken(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "eyJ") && strings.Count(text, ".") >= 2 &&
		strings.Trim(text, ".-_=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func markup(text string) (Found, bool) {
	start := strings.ToLower(text[:min(len(text), 1024)])

	// The audit reports of this toolkit are HTML pages, too.
	switch {
	case !strings.HasPrefix(start, "<"):
		return Found{}, false
	case strings.Contains(start, "<title>audit report of receipts"):
		return Found{page, "an audit report, for people to read", "verify the receipts that it covers; a report proves nothing by itself"}, true
	case hasAny(start, "<!doctype html", "<html", "<head", "<body"):
		return Found{page, "a web page (HTML)", askForFile}, true
	case strings.Contains(start, "<svg"):
		return Found{Image, "an SVG image", askForFile}, true
	case hasAny(start, "<?xml", "<!doctype", "<testsuite"):
		return Found{xmlText, "an XML document", askForFile}, true
	}

	return Found{}, false
}

// isMail reports whether text is an e-mail message with a header (RFC 5322).
func isMail(text string) bool {
	return hasAny(text, "From ", "From: ", "Return-Path: ", "Received: ", "Delivered-To: ", "MIME-Version: ", "Message-ID: ") &&
		strings.Contains(text, "\nSubject: ")
}

// isProse reports whether text begins with two words and contains no control characters.
func isProse(text string) bool {
	words := 0
	for _, word := range strings.Fields(text[:min(len(text), 4096)]) {
		if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, "#*->\"'(")); unicode.IsLetter(r) {
			words++
		}
	}
	control := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && !unicode.IsSpace(r) || r == utf8.RuneError })
	return words >= 2 && !control
}

// Hints for other files.
const (
	askForFile = "ask the sender for the receipt itself, a JSON file; a document derived from a receipt cannot be verified"
	unpack     = "unpack it, and pass the receipts in it"
)

// A signature is a sequence of bytes, at a fixed offset, that identifies a file format.
type signature struct {
	at    int
	bytes string
	found Found
}

func signatures() []signature {
	document := func(what string) Found { return Found{Document, what, askForFile} }
	image := func(what string) Found {
		return Found{Image, what, "ask the sender for the receipt itself, a JSON file; an image of a receipt cannot be verified"}
	}
	archive := func(what string) Found { return Found{Archive, what, unpack} }
	program := Found{program, "a program", "ask the sender for the receipt itself, a JSON file, and do not run the file that you received"}

	// The table is searched in order. Most formats begin with a fixed sequence of bytes.
	return []signature{
		{0, "%PDF-", document("a PDF document")},
		{0, `{\rtf`, document("an RTF document")},
		{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", document("an Office document")},
		{0, "PK\x03\x04", archive("a ZIP archive, or a document that is one")},
		{0, "PK\x05\x06", archive("an empty ZIP archive")},
		{257, "ustar", archive("a tar archive")},
		{0, "7z\xbc\xaf\x27\x1c", archive("a 7z archive")},
		{0, "Rar!\x1a\x07", archive("a RAR archive")},
		{0, "\xfd7zXZ\x00", Found{Packed, "a file compressed with xz", "decompress it first; only gzip and zstd are supported"}},
		{0, "BZh", Found{Packed, "a file compressed with bzip2", "decompress it first; only gzip and zstd are supported"}},
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

// ledgerID is the application ID of a ledger, at offset idOffset in an SQLite file
// (sqlite.org/fileformat.html, section 1.3).
const (
	ledgerID = "rcpt"
	idOffset = 68
)

func bySignature(head []byte) (Found, bool) {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && len(head) > idOffset && bytes.HasPrefix(head[idOffset:], []byte(ledgerID)) {
		return Found{Ledger, "a ledger", "export its receipts, and pass those"}, true
	}
	for _, s := range signatures() {
		if len(head) > s.at && bytes.HasPrefix(head[s.at:], []byte(s.bytes)) {
			return s.found, true
		}
	}
	return Found{}, false
}
