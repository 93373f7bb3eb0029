package terms

import (
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// WriteText writes the summary for all receipts as text. The text lists unread inputs, findings
// about the entire input, checks that were not made, and the verdict. The argument readings is the
// number of times that inputs were read. Each reading may cost money.
func WriteText(w io.Writer, s *stream.Summary, readings int) error {
	p := lines{w}
	for _, n := range s.Inputs.Unreadable {
		if err := p.line("%s: not read: %s", n.Source, n.Detail); err != nil {
			return err
		}
	}
	for _, f := range s.Findings {
		where := ""
		if f.Source != "" {
			where = f.Source + ": "
		}
		if err := p.line("%s%s: %s", where, f.Code, f.Detail); err != nil {
			return err
		}
	}
	for _, n := range s.NotChecked {
		if err := p.line("not checked: %s: %s", n.Code, n.Detail); err != nil {
			return err
		}
	}

	verdict := s.Verdict().String()
	if s.Verdict() == receipt.Verified && s.Scope == receipt.ScopeIntegrity {
		verdict = "intact" // anyone can create a receipt that matches its stated hash
	}
	read := ""
	switch {
	case readings == 2:
		read = ", read twice"
	case readings > 2:
		read = fmt.Sprintf(", read %d times", readings)
	}
	return p.line("%s: %d receipts, %d verified, %d refuted, %d undecided, %d copies; streams: %d; objects: %d of %d bytes%s",
		verdict, s.Receipts, s.Verified, s.Refuted, s.Undecided, s.Copies, len(s.Streams), s.Inputs.Files, s.Inputs.Bytes, read)
}

type lines struct{ io.Writer }

// line writes a line in which untrusted text is escaped, so that the text cannot start another
// line.
func (w lines) line(format string, args ...any) error {
	_, err := fmt.Fprintln(w, untrusted.Escape(fmt.Sprintf(format, args...)))
	return err
}
