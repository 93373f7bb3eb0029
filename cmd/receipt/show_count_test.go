package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A plainReceipt counts the contents of a receipt's JSON. It uses no code from this module.
type plainReceipt struct {
	doc     any
	unknown map[string]bool // pointers of metadata.unreported
	phrases []string        // the expected numbers, and names that may contain digits
}

type plainEntry = map[string]any

// countReceipt returns the phrases that the text of a receipt must contain, in the expected order.
func countReceipt(t *testing.T, data []byte) []string {
	t.Helper()
	p := &plainReceipt{unknown: map[string]bool{}}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&p.doc); err != nil {
		t.Fatal(err)
	}
	for _, pointer := range p.array("/metadata/unreported") {
		p.unknown[pointer.(string)] = true
	}
	p.title()
	p.headline()
	p.models()
	p.rows()
	p.origin()
	return p.phrases
}

func (p *plainReceipt) say(text ...string) { p.phrases = append(p.phrases, strings.Join(text, "")) }

func (p *plainReceipt) get(pointer string) any {
	v := p.doc
	for _, name := range strings.Split(pointer, "/")[1:] {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (p *plainReceipt) array(pointer string) []any {
	list, _ := p.get(pointer).([]any)
	return list
}

// text returns the string at a pointer. If the source did not report the string or a value that
// contains it, text returns "".
func (p *plainReceipt) text(pointer string) string {
	for i, c := range pointer + "/" {
		if c == '/' && p.unknown[pointer[:i]] {
			return ""
		}
	}
	s, _ := p.get(pointer).(string)
	return s
}

// time formats the instant at a pointer, or returns "" if the source did not report it.
func (p *plainReceipt) time(pointer, form string) string {
	at, err := time.Parse(time.RFC3339, p.text(pointer))
	if err != nil {
		return ""
	}
	return at.UTC().Format(form)
}

func (p *plainReceipt) bound(pointer string) string {
	if p.unknown[pointer] {
		return "at least "
	}
	return ""
}

// entries returns the entries in a list, except entries and strings that the source did not report.
// It also returns the phrase that precedes the number of entries, such as "at least".
func (p *plainReceipt) entries(list string) (entries []plainEntry, bound string) {
	bound = p.bound(list)
	for i, v := range p.array(list) {
		at, e := fmt.Sprintf("%s/%d", list, i), plainEntry{}
		for name, value := range v.(map[string]any) {
			if _, isText := value.(string); !isText || !p.unknown[at+"/"+name] {
				e[name] = value
			}
		}
		if e["@"] = at; p.unknown[at] {
			bound = "at least "
		} else {
			entries = append(entries, e)
		}
	}
	return entries, bound
}

// piles groups entries by the strings of some members, and sorts the groups by size, the largest
// first.
func piles(entries []plainEntry, members ...string) (names []string, by map[string][]plainEntry) {
	by = map[string][]plainEntry{}
	for _, e := range entries {
		var words []string
		for _, m := range members {
			s, _ := e[m].(string)
			words = append(words, s)
		}
		name := strings.Join(words, " ")
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], e)
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(by[b]) - len(by[a]) })
	return names, by
}

// commas inserts thousands separators into a number.
func commas(n any) string {
	whole, fraction, fractional := strings.Cut(fmt.Sprint(n), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fractional {
		whole += "." + fraction
	}
	return whole
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return commas(n) + " " + noun
}

// ends describes the calls that did not succeed, with their numbers.
func ends(calls []plainEntry) string {
	_, by := piles(calls, "status")
	failed, denied := len(by["failed"]), 0
	for _, e := range by["canceled"] {
		if strings.Contains(fmt.Sprint(e["metadata"]), "error_category:permission_denied") {
			denied++
		}
	}
	text := fmt.Sprintf("%d failed, %d denied, %d canceled, %d of unknown outcome", failed, denied, len(by["canceled"])-denied, len(calls)-failed-len(by["canceled"])-len(by["succeeded"]))
	text = regexp.MustCompile(`\b0 [^,]*(, )?`).ReplaceAllString(text, "")
	if text == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(text, ", ") + ")"
}

func (p *plainReceipt) title() {
	project := p.text("/identifiers/workspace_ref")
	p.say(regexp.MustCompile(`\.[0-9a-f]{8}$`).ReplaceAllString(project, ""))
	for _, branch := range p.array("/metadata/source/git_branches") {
		p.say(branch.(string))
	}
	p.say(p.time("/lifecycle/started_at", "2006-01-02 15:04 UTC"))
}

func (p *plainReceipt) headline() {
	n, _ := p.get("/metadata/source/prompts/count").(json.Number)
	if slices.Contains(p.array("/metadata/inferred"), any("/lifecycle/final_state")) && n != "" && n != "1" {
		p.say("with ", commas(n), " prompts")
	}
	from, err1 := time.Parse(time.RFC3339, p.text("/lifecycle/started_at"))
	to, err2 := time.Parse(time.RFC3339, p.text("/lifecycle/completed_at"))
	if err1 == nil && err2 == nil {
		took, unit := to.Sub(from), time.Second
		if took >= time.Hour {
			unit = time.Minute
		}
		p.say(strings.NewReplacer("h", " h ", "m0s", " min", "m", " min ", "s", " s").Replace(took.Truncate(unit).String()))
	}
	if !p.unknown["/cost/total"] {
		p.say("for ", p.text("/cost/currency"), " ", commas(p.get("/cost/total")))
	}

	writes, bound := p.entries("/side_effects/fs_writes")
	if files, _ := piles(writes, "path"); len(files) > 0 || bound == "" {
		p.say(bound, plural(len(files), "file"), " changed")
		if len(files) != len(writes) {
			p.say(" in ", bound, plural(len(writes), "write"))
		}
	}
	calls, bound := p.entries("/side_effects/tool_calls")
	if ids, _ := piles(calls, "tool", "call_id"); len(ids) > 0 || bound == "" {
		p.say(bound, plural(len(ids), "tool call"), ends(calls))
	}
	requests, bound := p.entries("/side_effects/network_egress")
	if hosts, by := piles(requests, "destination"); len(hosts) > 0 || bound == "" {
		p.say(bound, plural(len(requests), "request"))
		if len(by[""]) > 0 { // requests without a destination may have gone to the listed hosts
			bound, hosts = "at least ", slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
		}
		p.say(" to ", bound, plural(max(len(hosts), 1), "host"))
	}
	decisions, bound := p.entries("/approvals")
	if _, by := piles(decisions, "decision"); len(by["approved"]) > 0 || bound == "" {
		p.say(bound, plural(len(by["approved"]), "approval"))
	}
}

// models expects the tokens of each model, or the total if there is only one model.
func (p *plainReceipt) models() {
	list, each := p.entries("/cost/provider_breakdown") // if the list is incomplete, so is every number in it
	list = slices.DeleteFunc(list, func(e plainEntry) bool { return e["model"] == nil })
	if len(list) < 2 {
		each = ""
		list = []plainEntry{{"@": "/autonomy_budget/consumed", "model": p.text("/model_route/chosen_model/model")}}
		for name, n := range p.get("/autonomy_budget/consumed").(map[string]any) {
			list[0][name] = n
		}
	}
	for _, e := range list {
		p.say(e["model"].(string))
		for _, kind := range []string{"input", "output"} {
			bound := cmp.Or(each, p.bound(e["@"].(string)+"/"+kind+"_tokens"))
			if n, stated := e[kind+"_tokens"]; stated && (bound == "" || fmt.Sprint(n) != "0") {
				p.say(bound, commas(n), " ", kind, " tokens")
			}
		}
	}
}

// pile expects one row per name, and the number of rows that are omitted.
func (p *plainReceipt) pile(list, member, unnamed, unit, noun string) {
	entries, _ := p.entries(list)
	names, by := piles(entries, member)
	for _, name := range names[:min(8, len(names))] {
		p.say(cmp.Or(name, unnamed))
		p.say(", ", plural(len(by[name]), unit))
	}
	if more := len(names) - 8; more > 0 {
		p.say("and ", plural(more, "more "+noun))
	}
}

func (p *plainReceipt) rows() {
	p.pile("/side_effects/fs_writes", "path", "", "write", "file")
	changed, _ := p.entries("/metadata/write_continuity/changed_outside")
	outside, _ := piles(changed, "path")
	for _, name := range outside {
		p.say(name)
	}
	calls, _ := p.entries("/side_effects/tool_calls")
	tools, by := piles(calls, "tool")
	bad := func(tool string) int {
		_, how := piles(by[tool], "status")
		return len(by[tool]) - len(how["succeeded"])
	}
	slices.SortStableFunc(tools, func(a, b string) int { return bad(b) - bad(a) })
	for _, tool := range tools {
		p.say(tool, " ", commas(len(by[tool])), ends(by[tool]))
	}
	p.pile("/side_effects/network_egress", "destination", "hosts that are not stated", "request", "host")
	if withheld, bound := p.entries("/redactions"); len(withheld) > 0 {
		p.say("Withheld ", bound, plural(len(withheld), "value"))
	}
}

func (p *plainReceipt) origin() {
	p.say(p.text("/receipt_id"))
	p.say(p.time("/issued_at", "2006-01-02 at 15:04:05 UTC"))
	p.say(p.text("/metadata/source/kind"))
	for _, version := range p.array("/metadata/source/versions") {
		p.say(version.(string))
	}
}
