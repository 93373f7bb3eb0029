package browse

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"html/template"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// The view as one script, and its style. go generate writes them.
//
//go:embed dist/site.min.js
var script string

//go:embed dist/site.min.css
var style string

//go:embed index.gohtml
var index string

// indexPage returns index.html. The template escapes text. The script, the style, and the data are
// this program's own, or already escaped.
func indexPage(sum *stream.Summary, count int) ([]byte, error) {
	summary, err := page.SummaryData(sum)
	if err != nil {
		return nil, err
	}
	data, err := receipt.AppendJSON(nil, map[string]any{"summary": summary, "receipts": count, "table_rows": tableRows, "receipt_count": receiptCount})
	if err != nil {
		return nil, err
	}

	t, err := template.New("index").Parse(index)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Policy": policy(), "Style": template.CSS(style), "Script": template.JS(script), "Data": template.JS(data), "Verdict": verdictWord(sum), "Summary": sum,
	})
	return b.Bytes(), err
}

// policy returns the Content Security Policy (CSP 3) of the page: one script, one style, and the
// data files. No text becomes markup, and only checked names become addresses (Trusted Types).
func policy() string {
	return "default-src 'none'; script-src " + hashSource(script) + " 'self'; style-src " + hashSource(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types receipt-data"
}

func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// verdictWord returns a verdict in one word; integrity alone is never called verified.
func verdictWord(sum *stream.Summary) string {
	v := sum.Verdict()
	if v == receipt.Verified && sum.Scope != receipt.ScopeFull {
		return "intact"
	}
	return v.String()
}
