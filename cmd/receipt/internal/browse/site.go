package browse

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// Maximum numbers of table rows and of receipts in a data file.
const (
	tableRows    = 25_000
	receiptCount = 256
)

// mostSentence is the maximum length of a headline in the list, in bytes.
const mostSentence = 200

// dataDir is the name of the directory that contains a view's data files.
const dataDir = "data"

// A site writes a view while receipts are verified.
type site struct {
	dir     string
	secrets *redact.Policy
	count   int
	table   table
	entries []entry
	doc     canon.Document // memory that is reused for the next receipt
}

// An entry contains everything that the page of a receipt displays.
type entry struct {
	Report   json.RawMessage    `json:"report"`
	Address  string             `json:"address"`
	Receipt  json.RawMessage    `json:"receipt,omitempty"`
	Headline *headline.Headline `json:"headline,omitempty"`
	Withheld bool               `json:"withheld,omitempty"` // the content may include a secret
}

func newSite(dir string) (*site, error) {
	secrets, err := redact.Everyday()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, dataDir), 0o755); err != nil {
		return nil, cli.Usage("", "%q: %w", dir, cli.Reason(err))
	}
	return &site{dir: dir, secrets: secrets}, nil
}

// add adds the report on one receipt to the view. The receipt is passed as JSON in text, which may
// be nil. Neither argument is retained after the call.
func (s *site) add(rep *receipt.Report, text []byte) error {
	one, sentence, err := s.entry(rep, text)
	if err != nil {
		return err
	}
	row := rows.Of(rep)
	s.table.add(rep, &row, sentence, s.count)
	s.entries = append(s.entries, one)
	s.count++
	return s.flush(false)
}

// entry returns a receipt's page and headline.
func (s *site) entry(rep *receipt.Report, text []byte) (one entry, sentence string, err error) {
	one.Address = rep.Address()
	if one.Report, err = receipt.AppendJSON(nil, rep); err != nil {
		return one, "", err
	}
	if len(text) == 0 || rep.Check(receipt.StepParse).Status != receipt.StatusPassed || s.doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) != nil || s.doc.Root().Kind() != canon.KindObject {
		return one, "", nil // the report describes why the receipt cannot be read
	}
	if len(s.secrets.Find(&s.doc)) > 0 {
		one.Withheld = true
		return one, "", nil
	}
	one.Receipt, one.Headline = s.doc.AppendCanonical(nil), headline.Read(s.doc.Root()).Headline()
	if rep.Check(receipt.StepSchema).Status == receipt.StatusPassed { // other documents may lack values that a headline needs
		sentence = untrusted.Cut(one.Headline.Sentence.String(), mostSentence)
	}
	return one, sentence, nil
}

// flush writes all complete data files. If all is set, it also writes the remaining data.
func (s *site) flush(all bool) error {
	if n := len(s.entries); n == receiptCount || all && n > 0 {
		if err := s.data(fmt.Sprintf("receipts-%d", (s.count-1)/receiptCount), s.entries); err != nil {
			return err
		}
		s.entries = s.entries[:0]
	}
	if n := len(s.table.IDs); n == tableRows || all && n > 0 {
		if err := s.data(fmt.Sprintf("table-%d", (s.count-1)/tableRows), &s.table); err != nil {
			return err
		}
		s.table.next()
	}
	return nil
}

// data writes a data file.
func (s *site) data(name string, value any) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "receiptData(%q,\"", name)
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	packer, err := gzip.NewWriterLevel(encoder, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(packer).Encode(value); err != nil {
		return err
	}
	if err := packer.Close(); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	b.WriteString("\")\n")
	return s.file(filepath.Join("data", name+".js"), b.Bytes())
}

func (s *site) file(name string, data []byte) error {
	f, err := cli.NewFile(filepath.Join(s.dir, name), 0o644, false)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// end writes the remaining data and then the page, so that an incomplete view has no page.
func (s *site) end(sum *stream.Summary) error {
	if err := s.flush(true); err != nil {
		return err
	}
	page, err := indexPage(sum, s.count)
	if err != nil {
		return err
	}
	return s.file("index.html", page)
}
