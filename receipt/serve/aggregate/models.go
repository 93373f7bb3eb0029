package aggregate

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// A model is what receipts state in cost.provider_breakdown of one model.
type model struct {
	provider, name string
	verified       modelSums
	other          modelSums
}

// modelSums are exact decimals. An amount that the source did not tell, and a number of
// tokens that it did not tell or that an entry does not state, is counted as not told, and
// so never as none.
type modelSums struct {
	Entries      int                `json:"entries"`
	Cost         map[string]*amount `json:"cost"` // by currency
	InputTokens  *amount            `json:"input_tokens"`
	OutputTokens *amount            `json:"output_tokens"`
	Untold       int                `json:"untold"`               // entries of which not both numbers of tokens are told
	CostUntold   int                `json:"cost_untold,omitzero"` // those of which the amount is not
	Over         int                `json:"over,omitzero"`        // those of which a number of tokens may be more than happened
	CostOver     int                `json:"cost_over,omitzero"`   // those of which the amount may be
}

func addModels(t *tally[model], s statement, verified bool, currency string) {
	const list = "/cost/provider_breakdown"
	for i, e := range s.Member("cost").Member("provider_breakdown").Elements() {
		provider, name := e.Member("provider").String(), e.Member("model").String()
		if s.silent(list, i, "/provider") {
			provider = ""
		}
		if s.silent(list, i, "/model") {
			name = ""
		}
		row := t.of(provider+"\x00"+name, MaxModels)
		if row == nil {
			continue
		}
		row.provider, row.name = provider, name
		sums := &row.other
		if verified {
			sums = &row.verified
		}
		sums.add(e, currency)
		if s.silent(list, i, "/amount") {
			sums.CostUntold++
		}
		if !tokensStated(e) || s.silent(list, i, "/input_tokens") || s.silent(list, i, "/output_tokens") {
			sums.Untold++
		}
		if s.tooMuch(list, i, "/amount") {
			sums.CostOver++
		}
		if s.tooMuch(list, i, "/input_tokens") || s.tooMuch(list, i, "/output_tokens") {
			sums.Over++
		}
	}
}

func (s *modelSums) add(entry canon.Node, currency string) {
	s.init()
	s.Entries++
	if currency != "" {
		if s.Cost[currency] == nil {
			s.Cost[currency] = new(amount)
		}
		addNumber(s.Cost[currency], entry.Member("amount"))
	}

	addNumber(s.InputTokens, entry.Member("input_tokens"))
	addNumber(s.OutputTokens, entry.Member("output_tokens"))
}

func tokensStated(entry canon.Node) bool {
	return entry.Member("input_tokens").Kind() == canon.KindNumber && entry.Member("output_tokens").Kind() == canon.KindNumber
}

func (s *modelSums) init() {
	if s.Cost == nil {
		s.Cost, s.InputTokens, s.OutputTokens = map[string]*amount{}, new(amount), new(amount)
	}
}

type modelJSON struct {
	Provider string    `json:"provider"`
	Model    string    `json:"model"` // "" when it is not named
	Verified modelSums `json:"verified"`
	Other    modelSums `json:"other"`
}

type modelsJSON struct {
	Rows  []modelJSON `json:"rows"`
	Names int         `json:"names"`
	More  int         `json:"more"`
}

func modelsOf(t *tally[model]) modelsJSON {
	j := modelsJSON{Rows: []modelJSON{}, Names: len(t.rows), More: t.more}
	entries := func(m *model) int { return m.verified.Entries + m.other.Entries }
	for _, name := range t.largest(func(a, b *model) int { return cmp.Compare(entries(a), entries(b)) }) {
		m := *t.rows[name]
		m.verified.init()
		m.other.init()
		j.Rows = append(j.Rows, modelJSON{m.provider, m.name, m.verified, m.other})
	}
	return j
}
