package browse

import (
	"bytes"
	_ "embed" // the parts of the page

	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// The script and the style of the view, which "go generate" writes.
//
//go:embed dist/site.min.js
var script string

//go:embed dist/site.min.css
var style string

//go:embed index.gohtml
var index string

// pageView returns the page. Its policy permits one script, one style, and the data files. Text never
// becomes markup, and only checked names become addresses (Trusted Types).
func pageView() *page.View {
	return &page.View{Template: index, Script: script, Style: style, Sources: " 'self'", Types: "receipt-data"}
}

// indexPage returns index.html.
func indexPage(sum *stream.Summary, count int) ([]byte, error) {
	var b bytes.Buffer
	err := pageView().Render(&b, sum, map[string]any{"receipts": count, "table_rows": tableRows, "receipt_count": receiptCount}, nil)
	return b.Bytes(), err
}
