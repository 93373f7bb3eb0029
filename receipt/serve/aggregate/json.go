package aggregate

// An aggregateJSON is the form that the page reads.
type aggregateJSON struct {
	Unit       string    `json:"unit"` // hour, day, month, year or century
	Currencies []string  `json:"currencies"`
	Totals     pair      `json:"totals"`
	Bins       []binJSON `json:"bins"` // those that are not empty, by time
	LeftOut    leftOut   `json:"left_out"`

	Verdicts verdictsJSON `json:"verdicts"` // of all receipts, also those that are left out
	Models   modelsJSON   `json:"models"`   // the largest by entries
	Keys     rankedJSON   `json:"keys"`     // receipts by the trusted key of the issuer; "": none
	Paths    rankedJSON   `json:"paths"`    // entries of fs_writes by path
}

type binJSON struct {
	Start string `json:"start"` // RFC 3339, UTC
	Empty int    `json:"empty"` // how many empty bins lie between the one before and this one
	pair
}
