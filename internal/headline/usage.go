package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A usage describes the models, tokens, and budget in a receipt.
type usage struct{ counter }

// models describes the chosen model, its alternatives, and the tokens. If several models used
// tokens, each has its own row.
func (u usage) models() (list []Words) {
	chosen := u.chosen()
	for i, n := range u.Root.Member("cost").Member("provider_breakdown").Elements() {
		if i == maxRows {
			return append(list, Words{}.add("and more models"))
		}
		if model := u.name(n.Member("model")); model != "" {
			list = append(list, u.tokens(Words{}.named(model, ""), n))
		}
	}
	if len(list) > 1 && len(u.alternatives()) == 0 {
		return list
	}
	return []Words{u.tokens(chosen, u.Root.Member("autonomy_budget").Member("consumed")).join(u.alternatives())}
}

// chosen names the provider and the model if the source reported them.
func (u usage) chosen() Words {
	n := u.Root.Member("model_route").Member("chosen_model")
	provider, model := u.name(n.Member("provider")), u.name(n.Member("model"))
	switch {
	case provider == "" && model == "":
		return nil
	case provider == "":
		return Words{}.named(model, "")
	}
	return Words{}.named(provider, "").add(" ").named(model, "model "+u.gap(n.Member("model")))
}

func (u usage) alternatives() (w Words) {
	list := u.Root.Member("model_route").Member("alternatives_considered")
	for i, n := range list.Elements() {
		if i == maxRows {
			return w.add(", and others")
		}
		if w = w.add(", not ").named(u.name(n.Member("model")), "(absent)"); !n.Member("reason").IsZero() {
			w = w.add(`: "`).quote(n.Member("reason")).add(`"`)
		}
	}
	return w
}

// tokens appends the token counts that an object states.
func (u usage) tokens(w Words, n canon.Node) Words {
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if count := n.Member(name); count.Kind() == canon.KindNumber && !u.unreportedNumber(count) {
			if len(w) > 0 {
				w = w.add(", ")
			}
			w = w.add(u.Bound(count.Pointer()), number(count), " ", strings.ReplaceAll(name, "_", " "))
		}
	}
	return w
}

// unreportedNumber reports whether the source did not report a number. A listed number other than 0 is
// a bound.
func (u usage) unreportedNumber(n canon.Node) bool {
	return !(n.Float() > 0) && u.Unreported.Has(n.Pointer())
}

// number formats a number from the receipt.
func number(n canon.Node) string { return Group3(string(n.AppendCanonical(nil))) }

// budget describes the use of the budget. If limits is set, it describes only the parts that have a
// limit.
func (u usage) budget(limits bool) (w Words) {
	budget := u.Root.Member("autonomy_budget")
	for name, used := range budget.Member("consumed").Members() {
		limit := budget.Member("limit").Member(name.String())
		if limits && limit.IsZero() {
			continue
		}
		if len(w) > 0 {
			w = w.add(" · ")
		}
		label, unit := inBudget(name.String())
		w = w.value(label).add(" ").join(u.used(used, "", unit))
		if !limit.IsZero() {
			w = w.add(" of ").join(u.used(limit, "a limit ", unit))
		}
	}
	return w
}

// inBudget returns the label of a budget member and the unit of its numbers.
func inBudget(name string) (label, unit string) {
	if label, ok := strings.CutSuffix(name, "_ms"); ok {
		return strings.ReplaceAll(label, "_", " "), " ms"
	}
	if name == "usd" {
		return "USD", ""
	}
	return strings.ReplaceAll(name, "_", " "), ""
}

// used formats a budget number as a value with its unit, as a bound, or, if it was not reported, as
// noun followed by NotRecorded.
func (u usage) used(n canon.Node, noun, unit string) Words {
	switch {
	case n.Kind() != canon.KindNumber:
		return Words{}.quote(n)
	case u.unreportedNumber(n):
		return Words{}.add(noun, NotRecorded)
	}
	return Words{}.add(u.Bound(n.Pointer()), number(n), unit, u.Reckoned(n.Pointer()))
}
