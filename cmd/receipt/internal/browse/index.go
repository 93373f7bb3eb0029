package browse

import (
	"bytes"
	_ "embed" // embeds the parts of the page
	"html/template"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// The script and the style of the view, which go generate writes.
//
//go:embed dist/site.min.js
var script string

//go:embed dist/site.min.css
var style string

//go:embed index.gohtml
var index string

// indexPage returns index.html. The template escapes text. The script, the style, and the data are
// not escaped, because this program wrote them or already escaped them.
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
		"Policy": policy(), "Style": template.CSS(style), "Script": template.JS(script), "Data": template.JS(data), "Verdict": page.VerdictWord(sum), "Summary": sum,
	})
	return b.Bytes(), err
}

// policy returns the Content Security Policy of the page, which permits one script, one style, and
// the data files. Text never becomes markup, and only checked names become addresses (Trusted
// Types).
func policy() string {
	return page.Policy(script, style, " 'self'", "receipt-data")
}
