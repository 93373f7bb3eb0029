package print

import (
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A sarifPrinter writes SARIF 2.1.0 for GitHub code scanning. It writes a result for each problem,
// and a notification about anything that was not checked, not read, or omitted. GitHub accepts 10
// MB after gzip compression, and displays 5,000 results.
type sarifPrinter struct {
	problems
	w io.Writer
}

// maxSarif is the maximum size of all results in bytes.
const maxSarif = 8 << 20

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifText struct {
	Text string `json:"text"`
}

type sarifLevel struct {
	Level level `json:"level"`
}

type sarifResult struct {
	Rule         receipt.Code      `json:"ruleId"`
	Level        level             `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitzero"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			Line int `json:"startLine"`
		} `json:"region,omitzero"`
	} `json:"physicalLocation"`
}

type sarifRule struct {
	ID         receipt.Code `json:"id"`
	Short      sarifText    `json:"shortDescription"`
	Help       sarifText    `json:"help"`
	Default    sarifLevel   `json:"defaultConfiguration"`
	Properties struct {
		Tags []string `json:"tags"`
	} `json:"properties"`
}

type sarifNotification struct {
	Level   level     `json:"level"`
	Message sarifText `json:"message"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			Version string      `json:"version,omitempty"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Columns     string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

func (p *sarifPrinter) End(s *stream.Summary) error {
	p.end(s)
	results, more := listed(&p.problems, maxProblems, maxSarif, resultOf)
	run := sarifRun{Columns: "unicodeCodePoints", Results: append([]sarifResult{}, results...)}
	run.Tool.Driver.Name, run.Tool.Driver.Version = "receipt", strings.TrimPrefix(s.Tool, "receipt ")

	rules := map[receipt.Code]bool{}
	for _, r := range results {
		rules[r.Rule] = true
	}
	run.Tool.Driver.Rules = []sarifRule{}
	for _, code := range slices.Sorted(maps.Keys(rules)) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(code))
	}
	run.Invocations = []sarifInvocation{{s.Complete, p.notifications(s, more)}}

	e := json.NewEncoder(p.w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}{sarifSchema, "2.1.0", []sarifRun{run}})
}

// notifications returns the totals, and descriptions of the problems that the results do not
// contain.
func (p *sarifPrinter) notifications(s *stream.Summary, more int) []sarifNotification {
	list := []sarifNotification{{levelNote, sarifText{sarifMessage(new(Totals).Line(s))}}}
	if more > 0 {
		list = append(list, sarifNotification{levelWarning, sarifText{cli.Plural(more, "result", "not listed")}})
	}
	for _, n := range s.Inputs.Unreadable {
		list = append(list, sarifNotification{levelError, sarifText{sarifMessage(notReadAs(n.After > 0) + ": " + cli.EscapeLine(n.Source+": "+whyNotRead(n)))}})
	}
	for _, n := range p.notes {
		list = append(list, sarifNotification{levelNote, sarifText{sarifMessage("not checked: " + cli.EscapeLine(n.Detail))}})
	}
	return list
}

func resultOf(f *problem) sarifResult {
	r := sarifResult{Rule: f.rule, Level: f.level, Message: sarifText{sarifMessage(f.title + ": " + f.whole())}, Fingerprints: map[string]string{"primaryLocationLineHash": f.id}}
	if f.source != "" {
		var l sarifLocation
		l.Physical.Artifact.URI, l.Physical.Region.Line = fileURI(f.source), f.line
		r.Locations = []sarifLocation{l}
	}
	return r
}

func ruleOf(code receipt.Code) (r sarifRule) {
	info, _ := receipt.Lookup(code)
	r.ID, r.Short.Text, r.Help.Text, r.Default.Level = code, sarifMessage(info.Meaning), sarifMessage(Next(info)), levelWarning
	if info.Outcome == receipt.OutcomeRefutes {
		r.Default.Level = levelError
	}
	r.Properties.Tags = []string{strings.ReplaceAll(info.Where, " ", "-")}
	return r
}

// sarifMessage escapes the characters that delimit links and placeholders (SARIF §3.11.5 and
// §3.11.6).
func sarifMessage(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", "{{", "}", "}}").Replace(s)
}

// fileURI returns the URI of a file, which is relative unless the path is absolute.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme, u.Path = "file", "/"+strings.TrimPrefix(u.Path, "/")
	}
	return u.String()
}
