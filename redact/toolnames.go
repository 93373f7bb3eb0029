package redact

import "bytes"

// Agents log the tools of MCP servers as mcp__SERVER__TOOL. To a pattern "_" is a letter:
// a token behind "__" begins no word, and one before it ends none.
const (
	toolPrefix = "mcp__"
	joint      = "__"

	// part stands in the place of a joint: no pattern has it, and no word does.
	part = "\x1f\x1f"
)

// nameEnds are bytes that stand in no name, and maxToolName bounds one.
const (
	nameEnds    = " \t\r\n\"'`,;()[]{}<>\\"
	maxToolName = 512
)

// toolNames yields the names of tools in a text, and where they begin, in their parts: first
// with the joints behind mcp and SERVER alone, as a token may have one of its own, then with
// all of them.
func toolNames(text []byte, yield func(name []byte, at int)) {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(toolPrefix))
		if i < 0 {
			return
		}
		begin := from + i
		name := text[begin:min(begin+maxToolName, len(text))]
		if end := bytes.IndexAny(name, nameEnds); end >= 0 {
			name = name[:end]
		}
		from = begin + len(name)
		if len(name) == len(toolPrefix) {
			continue
		}
		parted := bytes.Replace(name, []byte(joint), []byte(part), 2)
		yield(parted, begin)
		if all := bytes.ReplaceAll(name, []byte(joint), []byte(part)); !bytes.Equal(all, parted) {
			yield(all, begin)
		}
	}
}
