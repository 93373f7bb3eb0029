package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Model returns the chosen model, or "" if the receipt does not state it.
func (r *Reading) Model() string {
	return counter{r}.name(r.Root.Member("model_route").Member("chosen_model").Member("model"))
}

// models describes the chosen model, its alternatives, and the tokens. Several models with tokens
// have a row each.
func (d *description) models() (list []Words) {
	chosen := d.chosen()
	for i, n := range d.Root.Member("cost").Member("provider_breakdown").Elements() {
		if i == maxRows {
			return append(list, Words{}.add("and more models"))
		}
		if model := d.name(n.Member("model")); model != "" {
			list = append(list, d.tokens(Words{}.named(model, ""), n))
		}
	}
	if len(list) > 1 && len(d.alternatives()) == 0 {
		return list
	}
	return []Words{d.tokens(chosen, d.Root.Member("autonomy_budget").Member("consumed")).join(d.alternatives())}
}

// chosen names the provider and the model, as far as the source reported them.
func (d *description) chosen() Words {
	n := d.Root.Member("model_route").Member("chosen_model")
	provider, model := d.name(n.Member("provider")), d.name(n.Member("model"))
	switch {
	case provider == "" && model == "":
		return nil
	case provider == "":
		return Words{}.named(model, "")
	}
	return Words{}.named(provider, "").add(" ").named(model, "model "+NotTold)
}

func (d *description) alternatives() (w Words) {
	list := d.Root.Member("model_route").Member("alternatives_considered")
	for i, n := range list.Elements() {
		if i == maxRows {
			return w.add(", and others")
		}
		if w = w.add(", not ").named(d.name(n.Member("model")), "(absent)"); !n.Member("reason").IsZero() {
			w = w.add(`: "`).quote(n.Member("reason")).add(`"`)
		}
	}
	return w
}

// tokens appends the numbers of tokens of an object that states them.
func (d *description) tokens(w Words, n canon.Node) Words {
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if count := n.Member(name); count.Kind() == canon.KindNumber && !d.untoldNumber(count) {
			if len(w) > 0 {
				w = w.add(", ")
			}
			w = w.add(d.Bound(count.Pointer()), number(count), " ", strings.ReplaceAll(name, "_", " "))
		}
	}
	return w
}

// untoldNumber reports whether the source did not report a number: any other number than 0 is a bound.
func (r *Reading) untoldNumber(n canon.Node) bool {
	return !(n.Float() > 0) && r.Untold.Has(n.Pointer())
}

// number formats a number of the receipt.
func number(n canon.Node) string { return Group3(string(n.AppendCanonical(nil))) }

// Budget describes the use of the budget: all of it, or only the parts with a limit.
func (r *Reading) Budget(limits bool) (w Words) {
	budget := r.Root.Member("autonomy_budget")
	for name, used := range budget.Member("consumed").Members() {
		limit := budget.Member("limit").Member(name.String())
		if limits && limit.IsZero() {
			continue
		}
		if len(w) > 0 {
			w = w.add(" · ")
		}
		w = w.value(strings.ReplaceAll(name.String(), "_", " ")).add(" ").join(r.used(used, ""))
		if !limit.IsZero() {
			w = w.add(" of ").join(r.used(limit, "a limit "))
		}
	}
	return w
}

// used formats a number of the budget: the value, a bound, or a note that noun was not reported.
func (r *Reading) used(n canon.Node, noun string) Words {
	switch {
	case n.Kind() != canon.KindNumber:
		return Words{}.quote(n)
	case r.untoldNumber(n):
		return Words{}.add(noun, NotTold)
	}
	return Words{}.add(r.Bound(n.Pointer()), number(n), r.Reckoned(n.Pointer()))
}
