package page

import (
	"encoding/json"
	"fmt"

	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// reportData is the JSON input for view/report.js.
type reportData struct {
	Summary   map[string]json.RawMessage `json:"summary"`
	Reports   []addressed                `json:"reports"`
	More      moreJSON                   `json:"more"`
	Groups    groupsJSON                 `json:"groups"`
	Aggregate json.Marshaler             `json:"aggregate"`
	Report    *addressed                 `json:"report,omitempty"`  // of the only receipt
	Receipt   json.RawMessage            `json:"receipt,omitempty"` // its text
	Headline  *headline.Headline         `json:"headline,omitempty"`
}

type moreJSON struct {
	Refuted   int `json:"refuted"`
	Undecided int `json:"undecided"`
}

// groupsJSON contains the largest groups of each verdict, and the total number of groups.
type groupsJSON struct {
	Refuted        []*group `json:"refuted"`
	RefutedCount   int      `json:"refuted_count"`
	Undecided      []*group `json:"undecided"`
	UndecidedCount int      `json:"undecided_count"`
}

// An addressed report identifies its receipt in the same way as the command does.
type addressed struct {
	*receipt.Report
	Address string `json:"address"`
}

// data returns the data of the report as JSON for a script element: the characters <, >, and &, and
// invisible characters, are escaped (HTML section 13.2.5.4).
func (r *Report) data(sum *stream.Summary) ([]byte, error) {
	d := reportData{Aggregate: &r.aggregate, More: moreJSON{r.refuted.more(), r.undecided.more()}, Reports: []addressed{}, Receipt: r.document, Headline: r.headline,
		Groups: groupsJSON{r.refuted.largest(), len(r.refuted.groups), r.undecided.largest(), len(r.undecided.groups)}}

	// Refuted receipts come first.
	for _, list := range []*listed{&r.refuted, &r.undecided} {
		for _, rep := range list.reports() {
			d.Reports = append(d.Reports, addressed{rep, rep.Address()})
		}
	}

	if r.first != nil {
		d.Report = &addressed{r.first, r.first.Address()}
	}

	var err error
	if d.Summary, err = SummaryData(sum); err != nil {
		return nil, err
	}
	return receipt.AppendJSON(nil, d)
}

// SummaryData returns the members of a summary's JSON form for the views: without the roster, and
// with at most 1,000 streams and 1,000 unreadable inputs. The members streams_count and
// inputs.unreadable_count contain the total numbers. The lists are truncated only in the JSON form,
// because a Summary with fewer streams could have a different verdict.
func SummaryData(sum *stream.Summary) (map[string]json.RawMessage, error) {
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
