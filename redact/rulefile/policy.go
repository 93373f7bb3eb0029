package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// Parse parses a policy file. The rules that it returns are valid. The error is an *[Error], or an
// error from [redact.Rules.Compile] about a pointer or a name.
func Parse(data []byte) (redact.Rules, error) {
	rules, err := parse(data)
	if err == nil {
		_, err = rules.Compile()
	}
	if err != nil {
		return redact.Rules{}, err
	}
	return rules, nil
}

func parse(data []byte) (redact.Rules, error) {
	if err := checkSize(data); err != nil {
		return redact.Rules{}, err
	}
	root, err := document(data)
	if err != nil {
		return redact.Rules{}, err
	}

	// Members are combined after all of them have been read, so their order does not matter.
	var p policy
	if err := members(root, map[string]func(*yaml.Node) error{
		"name":       text(&p.own.Name),
		"extends":    p.extends,
		"pointers":   texts(&p.own.Pointers),
		"names":      texts(&p.own.Names),
		"headers":    option(&p.headers),
		"members":    option(&p.members),
		"urls":       p.urls,
		"references": option(&p.references),
		"without":    p.leaveOut,
		"detectors":  p.detectors,
	}); err != nil {
		return redact.Rules{}, err
	}

	return p.rules()
}

// A policy is the parsed content of a policy file.
type policy struct {
	base, own                    redact.Rules
	headers, members, references *bool
	url                          *redact.URLs
	without                      []*yaml.Node
	lines                        []int // of the detectors
}

func (p *policy) rules() (redact.Rules, error) {
	r := p.base
	if p.own.Name != "" {
		r.Name = p.own.Name
	}

	// Lists are added to the lists in the extended rules, and booleans and urls replace the values
	// in the extended rules.
	r.Pointers = append(r.Pointers, p.own.Pointers...)
	r.Names = append(r.Names, p.own.Names...)

	if p.members != nil {
		r.Members = *p.members
	}
	if p.headers != nil {
		r.Headers = *p.headers
	}
	if p.references != nil {
		r.References = *p.references
	}
	if p.url != nil {
		r.URLs = *p.url
	}

	// Detectors are removed before the file's own detectors are added, so that the name of a
	// removed detector can be reused.
	for _, n := range p.without {
		i := slices.IndexFunc(r.Detectors, func(d secret.Detector) bool { return d.Name == n.Value })
		if i < 0 {
			return r, refuse(n, "there is no detector %q to omit", n.Value)
		}
		r.Detectors = slices.Delete(r.Detectors, i, i+1)
	}

	// The file's own detectors are compiled separately, so that errors can contain their lines.
	var wrong *secret.DetectorError
	if _, err := secret.Compile(p.own.Detectors); errors.As(err, &wrong) {
		return r, &Error{Line: p.lines[min(wrong.Index, len(p.lines)-1)], Detail: fmt.Sprintf("detector %q: %s", wrong.Name, wrong.Reason)}
	}

	// A detector replaces any other detector that has the same name.
	for _, d := range p.own.Detectors {
		if i := slices.IndexFunc(r.Detectors, func(o secret.Detector) bool { return o.Name == d.Name }); i >= 0 {
			r.Detectors[i] = d
		} else {
			r.Detectors = append(r.Detectors, d)
		}
	}

	return r, nil
}

func (p *policy) extends(n *yaml.Node) error {
	var name string
	if err := text(&name)(n); err != nil {
		return err
	}
	rules, ok := builtin(name)
	if !ok {
		return refuse(n, "expected default, upstream or strict, not %q", name)
	}
	p.base = rules
	return nil
}

func (p *policy) urls(n *yaml.Node) error {
	var name string
	if err := text(&name)(n); err != nil {
		return err
	}
	i := slices.Index([]string{"none", "whole", "anywhere"}, name)
	if i < 0 {
		return refuse(n, "expected none, whole or anywhere, not %q", name)
	}
	p.url = new([]redact.URLs{redact.URLsKept, redact.URLsWhole, redact.URLsAnywhere}[i])
	return nil
}

func (p *policy) leaveOut(n *yaml.Node) error {
	return each(n, func(n *yaml.Node) error {
		p.without = append(p.without, n)
		return text(new(string))(n)
	})
}

func (p *policy) detectors(n *yaml.Node) error {
	return each(n, func(n *yaml.Node) error {
		var d secret.Detector
		p.lines = append(p.lines, n.Line)
		err := members(n, map[string]func(*yaml.Node) error{
			"name":       text(&d.Name),
			"pattern":    text(&d.Pattern),
			"group":      group(&d.Group),
			"keywords":   texts(&d.Keywords),
			"entropy":    number(&d.Entropy),
			"allow":      texts(&d.Allow),
			"stop_words": texts(&d.StopWords),
		})
		p.own.Detectors = append(p.own.Detectors, d)
		return err
	})
}

// document returns the top-level mapping of a file.
func document(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return nil, &Error{Detail: "it is empty"}
	case err != nil:
		return nil, syntaxError(err)
	}
	if d.Decode(&next) != io.EOF {
		return nil, &Error{Line: next.Line, Detail: "expected one document"}
	}
	return doc.Content[0], nil
}

// syntaxError separates the line number from the message of a library error, because the library
// states it only there. It also removes the part of the file that the message quotes, which may be
// a pattern, such as *AKIA…, that a user wrote without quotation marks.
func syntaxError(err error) error {
	detail := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(detail); m != nil {
		line, _ = strconv.Atoi(m[1])
		detail = m[2]
	}
	detail = regexp.MustCompile(`unknown anchor '.*' referenced`).ReplaceAllString(detail, "unknown anchor referenced")
	return &Error{Line: line, Detail: "invalid YAML: " + detail}
}

func refuse(n *yaml.Node, format string, args ...any) error {
	return &Error{Line: n.Line, Detail: fmt.Sprintf(format, args...)}
}

// members parses the members of a mapping, each of which must be known and may occur only once.
func members(n *yaml.Node, known map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		return refuse(n, "expected a mapping, without an anchor or an alias")
	}

	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		var name string
		if err := text(&name)(key); err != nil {
			return err
		}

		read, ok := known[name]
		switch {
		case !ok:
			return refuse(key, "unknown member %q", name)
		case seen[name]:
			return refuse(key, "duplicate member %q", name)
		}

		seen[name] = true
		if err := read(value); err != nil {
			return err
		}
	}

	return nil
}

// each parses the elements of a sequence.
func each(n *yaml.Node, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		return refuse(n, "expected a list, without an anchor or an alias")
	}
	if len(n.Content) > maxEntries {
		return refuse(n, "the list has more than %d entries", maxEntries)
	}
	for _, element := range n.Content {
		if err := read(element); err != nil {
			return err
		}
	}
	return nil
}

func scalar(n *yaml.Node, tags ...string) bool {
	return n.Kind == yaml.ScalarNode && n.Anchor == "" && slices.Contains(tags, n.Tag)
}

func text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if !scalar(n, "!!str") {
			return refuse(n, "expected a string, in quotes if it looks like another type")
		}
		*to = n.Value
		return nil
	}
}

func texts(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		return each(n, func(n *yaml.Node) error {
			var s string
			err := text(&s)(n)
			*to = append(*to, s)
			return err
		})
	}
}

func option(to **bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if !scalar(n, "!!bool") || n.Decode(to) != nil {
			return refuse(n, "expected true or false")
		}
		return nil
	}
}

func number(to *float64) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if !scalar(n, "!!int", "!!float") || n.Decode(to) != nil {
			return refuse(n, "expected a number")
		}
		return nil
	}
}

func group(to *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if scalar(n, "!!str") && n.Value == "first" {
			*to = secret.FirstGroup
			return nil
		}
		if !scalar(n, "!!int") || n.Decode(to) != nil || *to < 0 {
			return refuse(n, "expected the number of a group, or first")
		}
		return nil
	}
}
