package page

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/receipt"
)

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

// data returns the input of view/report.js.
func (r *Report) data() map[string]any {
	reports := []addressed{}
	for _, list := range []*listed{&r.refuted, &r.undecided} {
		for _, rep := range list.reports() {
			reports = append(reports, addressed{rep, rep.Address()})
		}
	}

	d := map[string]any{
		"aggregate": &r.aggregate, "reports": reports, "more": moreJSON{r.refuted.more(), r.undecided.more()},
		"groups": groupsJSON{r.refuted.largest(), len(r.refuted.groups), r.undecided.largest(), len(r.undecided.groups)},
	}
	if r.first != nil { // the only receipt
		d["report"] = addressed{r.first, r.first.Address()}
	}
	if r.document != nil {
		d["receipt"], d["headline"] = json.RawMessage(r.document), r.headline
	}
	return d
}
