package aggregate

import "github.com/receiptkit/receiptkit/canon"

// A model contains the sums for one model in cost.provider_breakdown.
type model struct {
	provider, name string
	verified       modelSums
	other          modelSums
}

func (m *model) entries() int { return m.verified.Entries + m.other.Entries }

// apply adds a part n times.
func (m *model) apply(p *part, e *modelPart, n int) {
	sums := &m.other
	if p.verified {
		sums = &m.verified
	}

	sums.init()
	sums.Entries += n
	sums.Cost.plus(p.currency, e.cost, n)
	sums.InputTokens.plus(e.input, n)
	sums.OutputTokens.plus(e.output, n)
	sums.Untold += n * one(e.untold)
	sums.CostUntold += n * one(e.costUntold)
	sums.Over += n * one(e.over)
	sums.CostOver += n * one(e.costOver)
}

// modelSums contains exact decimals. Unreported amounts, and token counts that are unreported or
// absent, are counted separately and never treated as zero.
type modelSums struct {
	Entries      int     `json:"entries"`
	Cost         costs   `json:"cost"`
	InputTokens  *amount `json:"input_tokens"`
	OutputTokens *amount `json:"output_tokens"`
	Untold       int     `json:"untold"`               // entries without both numbers of tokens
	CostUntold   int     `json:"cost_untold,omitzero"` // entries without the amount
	Over         int     `json:"over,omitzero"`        // entries with a number of tokens that may be too high
	CostOver     int     `json:"cost_over,omitzero"`   // entries with an amount that may be too high
}

// A modelPart is the contribution of one entry in a receipt.
type modelPart struct {
	row                                *model  // nil if the model is not stored
	cost                               *amount // nil if the currency is not stored
	input, output                      *amount
	untold, costUntold, over, costOver bool
}

// readModels returns the parts of all entries in a receipt, with the rows to which they belong.
func readModels(t *tally[model], s statement, currency string) []modelPart {
	const list = "/cost/provider_breakdown"
	entries := s.Member("cost").Member("provider_breakdown")
	parts := make([]modelPart, 0, entries.Len())
	for i, e := range entries.Elements() {
		provider, name := e.Member("provider").String(), e.Member("model").String()

		// A name that the source did not report is treated as empty.
		if s.silent(list, i, "/provider") {
			provider = ""
		}
		if s.silent(list, i, "/model") {
			name = ""
		}

		// Entries for models without a row are counted but not listed.
		p := modelPart{row: t.of(provider+"\x00"+name, maxModels)}
		if p.row != nil {
			p.row.provider, p.row.name = provider, name
			p.read(e, currency)

			// Values that are unreported, or that may be too large, are counted per entry.
			p.costUntold = s.silent(list, i, "/amount")
			p.untold = !tokensStated(e) || s.silent(list, i, "/input_tokens") || s.silent(list, i, "/output_tokens")
			p.costOver = s.tooMuch(list, i, "/amount")
			p.over = s.tooMuch(list, i, "/input_tokens") || s.tooMuch(list, i, "/output_tokens")
		}
		parts = append(parts, p)
	}
	return parts
}

func (p *modelPart) read(entry canon.Node, currency string) {
	p.input, p.output = number(entry.Member("input_tokens")), number(entry.Member("output_tokens"))
	if currency != "" {
		p.cost = number(entry.Member("amount"))
	}
}

func tokensStated(entry canon.Node) bool {
	return entry.Member("input_tokens").Kind() == canon.KindNumber && entry.Member("output_tokens").Kind() == canon.KindNumber
}

func (s *modelSums) init() {
	if s.Cost == nil {
		s.Cost, s.InputTokens, s.OutputTokens = costs{}, new(amount), new(amount)
	}
}

type modelJSON struct {
	Provider string    `json:"provider"`
	Model    string    `json:"model"` // "" if it is not named
	Verified modelSums `json:"verified"`
	Other    modelSums `json:"other"`
}

type modelsJSON struct {
	Rows  []modelJSON `json:"rows"`
	Names int         `json:"names"`
	More  int         `json:"more"`
}

func modelsOf(t *tally[model]) modelsJSON {
	names, count := t.largest((*model).entries)
	j := modelsJSON{Rows: []modelJSON{}, Names: count, More: t.more}

	for _, name := range names {
		m := *t.rows[name]
		m.verified.init()
		m.other.init()
		j.Rows = append(j.Rows, modelJSON{m.provider, m.name, m.verified, m.other})
	}
	return j
}
