package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

func newShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "show a receipt to a person",
		Long: `Show what a receipt says, and whether its content fits its hash. Signatures are
not checked here: receipt verify does that.

Exit codes: 0 when the content fits the hash, 1 when it does not or the document
is no valid receipt, 2 when it could not be read.`,
		Example: `  receipt show receipt.json
  receipt show - < receipt.json`,
		Args: exactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readInput(e, args[0])
			if err != nil {
				return err
			}
			return showReceipt(e, args[0], data)
		},
	}
}

func showReceipt(e *env, path string, data []byte) error {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Now: e.now()})
	if err != nil {
		return err
	}
	doc, rep := new(canon.Document), &receipt.Report{Source: sourceName(path)}
	v.VerifyBytes(data, doc, rep)
	if doc.Root().Kind() != canon.KindObject {
		f := rep.Finding()
		return refuted(f.Hint, "%q is no receipt: %s: %s", path, f.Code, f.Detail)
	}
	b := &block{}
	s := &shown{root: doc.Root(), b: b}
	if rep.Verdict == receipt.Refuted { // that comes first
		s.refuted(rep)
		fmt.Fprintln(b, escapeLine(s.sentence()))
	} else {
		fmt.Fprintln(b, escapeLine(s.sentence()))
		fmt.Fprintln(b, integrityLine(rep))
	}
	b.WriteByte('\n')
	s.table()
	for _, w := range rep.Warnings {
		b.row("warning", w.Detail)
	}
	if _, err := e.out.Write(b.Bytes()); err != nil {
		return err
	}
	return exitWith(verdictExit(rep.Verdict))
}

func integrityLine(rep *receipt.Report) string {
	if rep.Verdict == receipt.Verified {
		return "Intact: the content fits its hash. Signer not checked: receipt verify " + shellFile(rep.Source)
	}
	return "Not decided: " + escapeLine(rep.Finding().Detail)
}

// shown renders a receipt from its document, so that one that is not valid is
// shown as far as it goes.
type shown struct {
	root canon.Node
	b    *block
}

// refuted says what is wrong before anything else.
func (s *shown) refuted(rep *receipt.Report) {
	if rep.Check(receipt.StepHash).Status == receipt.Failed {
		fmt.Fprintln(s.b, "NOT INTACT: the content does not fit its hash. Do not rely on what follows.")
	} else {
		fmt.Fprintln(s.b, "NOT VALID: this is no receipt as the format has it. Do not rely on what follows.")
	}
	p := textPrinter{}
	for _, checks := range failures(rep) {
		p.failed(s.b, checks)
		if hint := checks[0].Hint; hint != "" {
			s.b.prose("hint", hint)
		}
	}
	s.b.WriteByte('\n')
}

// text is the string at a path of names. What is no string is shown as JSON.
func (s *shown) text(n canon.Node, names ...string) string {
	for _, name := range names {
		n = n.Member(name)
	}
	switch n.Kind() {
	case canon.KindInvalid:
		return "(absent)"
	case canon.KindString:
		const most = 300
		if text := []rune(n.String()); len(text) > most {
			return string(text[:most]) + "…"
		}
		return n.String()
	}
	return show(n)
}

// sentence says what happened in one line.
func (s *shown) sentence() string {
	effects := s.root.Member("side_effects")
	text := "Task " + map[string]string{"SUCCEEDED": "succeeded", "FAILED": "failed", "CANCELED": "was canceled"}[s.root.Member("lifecycle").Member("final_state").String()]
	if text == "Task " {
		text = "Task ended in an unknown state"
	}
	if took, ok := s.duration(); ok {
		text += " in " + took
	}
	cost := s.root.Member("cost")
	if total := cost.Member("total"); total.Kind() == canon.KindNumber {
		text += fmt.Sprintf(" for %s %s", s.text(cost, "currency"), number(total))
	}
	var bytesSent float64
	for _, n := range effects.Member("network_egress").Elements() {
		bytesSent += n.Member("bytes_sent").Float()
	}
	return text + ": " + strings.Join([]string{
		plural(effects.Member("fs_writes").Len(), "file", "changed"),
		group3(strconv.FormatFloat(bytesSent, 'f', -1, 64)) + " bytes sent",
		plural(effects.Member("tool_calls").Len(), "tool call", ""),
		plural(s.root.Member("approvals").Len(), "approval", ""),
	}, ", ") + "."
}

func plural(n int, noun, verb string) string {
	text := fmt.Sprintf("%s %s", group3(strconv.Itoa(n)), noun)
	if n != 1 {
		text += "s"
	}
	return strings.TrimSpace(text + " " + verb)
}

func (s *shown) duration() (string, bool) {
	lifecycle := s.root.Member("lifecycle")
	start, err1 := receipt.ParseTime(lifecycle.Member("started_at").Text())
	end, err2 := receipt.ParseTime(lifecycle.Member("completed_at").Text())
	if err1 != nil || err2 != nil || end.Before(start) {
		return "", false
	}
	return durationText(end.Sub(start)), true
}

func durationText(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	var parts []string
	for _, u := range units {
		if n := d / u.size; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.size
		}
	}
	if d == 0 && len(parts) == 0 {
		return "0 s"
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return strings.Join(parts, " ")
}

func (s *shown) table() {
	r := s.root
	s.b.row("receipt", s.text(r, "receipt_id"))
	s.b.row("task", s.text(r, "identifiers", "task_id")+", "+s.text(r, "identifiers", "workspace_ref"))
	s.b.row("issuer", s.issuer(r.Member("issuer")))
	s.b.row("time", s.times())
	if f := r.Member("lifecycle").Member("failure"); f.Kind() == canon.KindObject {
		s.b.row("failure", show(f))
	}
	s.models()
	s.budget()
	s.list("approved", r.Member("approvals"), s.approval)
	effects := r.Member("side_effects")
	s.list("files", effects.Member("fs_writes"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("network", effects.Member("network_egress"), s.egress)
	s.list("tools", effects.Member("tool_calls"), func(n canon.Node) string { return s.text(n, "tool") + " " + s.text(n, "status") })
	s.list("handoffs", effects.Member("a2a_handoffs"), func(n canon.Node) string {
		return s.text(n, "target_agent") + " " + s.text(n, "status") + ", " + s.text(n, "task_id")
	})
	s.list("artifacts", r.Member("final_artifacts"), func(n canon.Node) string { return s.text(n, "artifact_id") + " (" + s.text(n, "kind") + ")" })
	s.list("deltas", r.Member("deltas"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("withheld", r.Member("redactions"), func(n canon.Node) string { return s.text(n, "field") + `: "` + s.text(n, "reason") + `"` })
	s.chain()
	s.list("signatures", r.Member("signatures"), func(n canon.Node) string { return s.text(n, "key_id") + ", " + s.text(n, "algorithm") })
}

func (s *shown) issuer(n canon.Node) string {
	text := s.text(n, "id")
	if !n.Member("name").IsZero() {
		text += ` "` + s.text(n, "name") + `"`
	}
	return text
}

// list is a row for each entry; optional lists that are empty or absent are
// left out, the others say "none".
func (s *shown) list(label string, list canon.Node, entry func(canon.Node) string) {
	const most = 50
	if list.Len() == 0 {
		switch label {
		case "handoffs", "files", "network", "tools", "signatures", "approved":
			s.b.row(label, "none")
		}
		return
	}
	for i, n := range list.Elements() {
		if i == most {
			s.b.row("", fmt.Sprintf("and %d more", list.Len()-most))
			return
		}
		if i > 0 {
			label = ""
		}
		s.b.row(label, entry(n))
	}
}

func (s *shown) times() string {
	lifecycle := s.root.Member("lifecycle")
	text := clockText(lifecycle.Member("started_at"), true) + " to " + clockText(lifecycle.Member("completed_at"), !s.sameDay()) + " UTC"
	return text + ", issued " + clockText(s.root.Member("issued_at"), !s.sameDay())
}

// sameDay reports whether the receipt's times lie on one day.
func (s *shown) sameDay() bool {
	lifecycle := s.root.Member("lifecycle")
	day := func(n canon.Node) string { return clockText(n, true)[:min(10, len(clockText(n, true)))] }
	first := day(lifecycle.Member("started_at"))
	return first == day(lifecycle.Member("completed_at")) && first == day(s.root.Member("issued_at"))
}

func clockText(n canon.Node, withDate bool) string {
	t, err := receipt.ParseTime(n.Text())
	switch {
	case err != nil:
		return "(no time)"
	case withDate:
		return t.UTC().Format("2006-01-02 15:04:05")
	}
	return t.UTC().Format("15:04:05")
}

func (s *shown) models() {
	route := s.root.Member("model_route")
	chosen := route.Member("chosen_model")
	text := s.text(chosen, "provider") + " " + s.text(chosen, "model")
	for _, n := range route.Member("alternatives_considered").Elements() {
		text += ", not " + s.text(n, "model")
		if !n.Member("reason").IsZero() {
			text += `: "` + s.text(n, "reason") + `"`
		}
	}
	s.b.row("model", text)
}

func (s *shown) budget() {
	budget := s.root.Member("autonomy_budget")
	var parts []string
	for name, used := range budget.Member("consumed").Members() {
		text := strings.ReplaceAll(name.String(), "_", " ") + " " + number(used)
		if limit := budget.Member("limit").Member(name.String()); !limit.IsZero() {
			text += " of " + number(limit)
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		s.b.row("budget", strings.Join(parts, " · "))
	}
}

func (s *shown) approval(n canon.Node) string {
	text := clockText(n.Member("decided_at"), !s.sameDay()) + " " + s.text(n, "action") + " by " + s.text(n, "actor")
	if decision := s.text(n, "decision"); decision != "approved" {
		text = strings.ToUpper(decision) + " " + text
	}
	return text
}

func (s *shown) egress(n canon.Node) string {
	text := s.text(n, "destination")
	if sent := n.Member("bytes_sent"); !sent.IsZero() {
		text += ", " + number(sent) + " bytes"
	}
	return text + `, "` + s.text(n, "purpose") + `"`
}

func (s *shown) chain() {
	chain := s.root.Member("chain")
	text := "names no predecessor"
	if previous := chain.Member("previous_receipt_hash"); previous.Kind() == canon.KindString {
		text = "follows " + s.text(previous)
	}
	if root := chain.Member("merkle_root"); !root.IsZero() {
		text += ", in the batch " + s.text(root)
	}
	s.b.row("chain", text)
	s.b.row("hash", s.text(chain, "receipt_hash"))
}

// number is a JSON number for a person; anything else as it stands.
func number(n canon.Node) string {
	if n.Kind() != canon.KindNumber {
		return show(n)
	}
	return group3(string(n.AppendCanonical(nil)))
}

// group3 separates the thousands of a plain decimal.
func group3(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.ContainsAny(s, "e-") || len(whole) < 4 {
		return s
	}
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}
