package redact

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
)

// A list of arguments is searched like a command line:
//
//	["curl", "-u", "bob:…", "https://…"]

const (
	maxArguments    = 64
	maxArgumentList = 4096 // bytes
)

// secretArguments returns the rules that withhold elements of a list, keyed by index. The list is
// searched like a command line, and a secret must be preceded by at least one element.
func secretArguments(p *Policy, list canon.Node) map[int]string {
	if !p.members || list.Len() > maxArguments {
		return nil
	}
	line, ends, ok := commandLine(list)
	if !ok {
		return nil
	}

	// The first element is the name of the program. A secret must be entirely within one of the
	// following elements.
	var rules map[int]string
	for _, s := range p.scanner.Scan(line, nil) {
		start := 0
		for i, end := range ends {
			if i > 0 && s.Start >= start && s.End <= end && s.End > s.Start {
				if rules == nil {
					rules = map[int]string{}
				}
				rules[i] = ruleOf(p.scanner.Name(s.Detector))
			}
			start = end
		}
	}

	return rules
}

// commandLine formats a list of strings as a shell command, and returns the positions at which the
// strings end. It returns false if the list is too long or does not look like arguments. In a list
// of arguments, all elements are strings, and at least one element is an option.
func commandLine(list canon.Node) (line []byte, ends []int, ok bool) {
	for _, v := range list.Elements() {
		if v.Kind() != canon.KindString {
			return nil, nil, false
		}
		text := v.Text()
		if len(line)+len(text) > maxArgumentList {
			return nil, nil, false
		}
		ok = ok || len(text) > 1 && text[0] == '-'
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = appendArgument(line, text)
		ends = append(ends, len(line))
	}
	return line, ends, ok
}

// appendArgument appends an argument, in quotation marks if a shell would otherwise split it.
func appendArgument(line, text []byte) []byte {
	switch {
	case bytes.ContainsAny(text, "\n\r"):
		return append(line, '.') // this is a document, which is searched separately
	case !bytes.ContainsAny(text, " \t\"'|;&<>$\\`(){}*?[]#~!"):
		return append(line, text...)
	case bytes.IndexByte(text, '\'') < 0:
		return append(append(append(line, '\''), text...), '\'')
	}
	return append(append(append(line, '"'), text...), '"')
}
