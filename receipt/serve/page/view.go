package page

import (
	"crypto/sha256"
	_ "embed" // for the template
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"

	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

//go:embed view.gohtml
var viewTemplate string

// A View is a page about a run, with one script and one style sheet. Template is the source of an
// [html/template] that includes the templates head, counts, and tail. Sources contains further sources
// of scripts, each preceded by a space, and Types is the value of trusted-types in the policy.
type View struct{ Template, Script, Style, Sources, Types string }

// Policy returns the Content Security Policy (CSP 3) of the page.
func (v *View) Policy() string {
	return "default-src 'none'; script-src " + hashSource(v.Script) + v.Sources + "; style-src " + hashSource(v.Style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types " + v.Types
}

func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Render writes the page. The script receives data and the summary as JSON for a script element: the
// characters <, >, and &, and invisible characters, are escaped (HTML section 13.2.5.4). The template
// receives values, the summary, and the verdict.
func (v *View) Render(w io.Writer, sum *stream.Summary, data, values map[string]any) error {
	summary, err := summaryData(sum)
	if err != nil {
		return err
	}
	all := map[string]any{"summary": summary}
	maps.Copy(all, data)
	text, err := receipt.AppendJSON(nil, all)
	if err != nil {
		return err
	}

	t, err := template.New("page").Funcs(template.FuncMap{
		"visible": visible, "hash": hashText, "stream": streamText, "fault": headline.Fault,
	}).Parse(viewTemplate + v.Template)
	if err != nil {
		return err
	}

	// The template escapes all text. The script, the style sheet, and the data need no escaping,
	// because they are part of this program or have been escaped already.
	shown := map[string]any{
		"Policy": v.Policy(), "Style": template.CSS(v.Style), "Script": template.JS(v.Script), "Data": template.JS(text),
		"Summary": sum, "Verdict": verdictWord(sum),
	}
	maps.Copy(shown, values)
	return t.Execute(w, shown)
}

// verdictWord returns the verdict of a summary in one word. If only integrity was checked, that
// word is never "verified".
func verdictWord(sum *stream.Summary) string {
	v := sum.Verdict()
	if v == receipt.Verified && sum.Scope != receipt.ScopeFull {
		return "intact"
	}
	return v.String()
}

// summaryData returns the members of a summary's JSON form for the views. It omits the roster, and
// includes at most 1,000 streams and 1,000 unreadable inputs. The members streams_count and
// inputs.unreadable_count contain the total numbers. The lists are truncated only in the JSON form,
// because a Summary with fewer streams could have a different verdict.
func summaryData(sum *stream.Summary) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(sum)
	if err != nil {
		return nil, err
	}

	var members, inputs map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(members["inputs"], &inputs); err != nil {
		return nil, err
	}

	delete(members, "roster") // used for merging, not for display

	if err := shorten(members, "streams", maxStreams); err != nil {
		return nil, err
	}
	if err := shorten(inputs, "unreadable", maxInputs); err != nil {
		return nil, err
	}
	members["inputs"], err = json.Marshal(inputs)
	return members, err
}

// shorten truncates a list and adds a member with its original length.
func shorten(members map[string]json.RawMessage, name string, most int) (err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(members[name], &list); err != nil {
		return fmt.Errorf("page: summary: %s: %w", name, err)
	}
	members[name+"_count"] = fmt.Append(nil, len(list))
	members[name], err = json.Marshal(list[:min(len(list), most)])
	return err
}
