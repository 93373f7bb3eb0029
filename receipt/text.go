package receipt

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/redact/secret"
)

func kindName(k canon.Kind) string {
	switch k {
	case canon.KindNull:
		return "null"
	case canon.KindBool:
		return "a boolean"
	case canon.KindNumber:
		return "a number"
	case canon.KindString:
		return "a string"
	case canon.KindArray:
		return "an array"
	case canon.KindObject:
		return "an object"
	}
	return "nothing"
}

// place returns the pointer to n, truncated in the same way as the pointers in errors from package
// canon. Without truncation, the names in n could make the pointer as long as the receipt.
func place(n canon.Node) string { return untrusted.Cut(n.Pointer(), 256) }

// excerpt truncates untrusted text for use in a message. A caller that prints the text must escape
// it.
func excerpt(text []byte) string { return untrusted.Cut(text, 80) }

func quoted(s string) string { return fmt.Sprintf("%+q", s) }

func quotedList(list []string) string {
	if len(list) == 0 {
		return "the issuer that is asked for"
	}
	const most = 3
	text := quoted(list[0])
	for _, s := range list[1:min(len(list), most)] {
		text += ", " + quoted(s)
	}
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// withheldName replaces the name of a member in a report if the name looks like a secret.
const withheldName = "[withheld]"

// withholdSecrets removes member names that look like secrets from a report. It is applied to every
// report, so that all output formats contain the same names.
func withholdSecrets(r *Report) {
	for i := range r.Checks {
		c := &r.Checks[i]
		withholdNames(&c.Pointer, &c.Detail, &c.Reason, &c.Syntax.Detail)
		if c.Syntax.Pointer != "" {
			c.Syntax.Pointer = c.Pointer
		}
	}
	for _, notes := range [...][]Note{r.NotChecked, r.Warnings} {
		for i := range notes {
			withholdNames(&notes[i].Pointer, &notes[i].Detail)
		}
	}
}

// withholdNames removes names that look like secrets from a pointer and from messages about the
// location.
func withholdNames(pointer *string, about ...*string) {
	whole, cut := strings.CutSuffix(*pointer, "…")
	if cut {
		whole = strings.TrimSuffix(whole, "~") // the second character of ~0 or ~1 was cut off
		for _, text := range about {
			*text = withoutNames(*text)
		}
	}
	if !anyOdd(whole) {
		return
	}
	ptr, _ := canon.ParsePointer(whole) // an invalid pointer, which only a rule states, contains no names

	var b []byte
	names, found := ptr.Tokens(), false
	for i, name := range names {
		if !mayBeSecret(name, cut && i == len(names)-1) {
			b = canon.AppendToken(b, name)
			continue
		}
		found = true
		b = canon.AppendToken(b, withheldName)
		for _, text := range about {
			*text = withoutName(*text, name)
		}
	}
	if found {
		*pointer = string(b)
	}
}

// withoutName removes a name, or the quoted beginning of a name, from text.
func withoutName(text, name string) string {
	for _, most := range []int{len(name), 80, 64} { // packages canon and schemas truncate names to these lengths
		for _, quoted := range []string{strconv.Quote(untrusted.Head(name, most)), strconv.QuoteToASCII(untrusted.Head(name, most))} {
			text = strings.ReplaceAll(text, quoted, strconv.Quote(withheldName))
			text = strings.ReplaceAll(text, quoted[:len(quoted)-1]+"…", `"`+withheldName)
		}
	}
	return text
}

// withoutNames removes quoted names that look like secrets from text. It is needed if the pointer
// was truncated, because the pointer then does not contain the names, or only their beginnings.
func withoutNames(text string) string {
	var b strings.Builder
	for {
		before, _, _ := strings.Cut(text, `"`)
		quoted, err := strconv.QuotedPrefix(text[len(before):])
		if err != nil {
			return b.String() + text
		}
		b.WriteString(before)
		text = text[len(before)+len(quoted):]
		if name, _ := strconv.Unquote(quoted); mayBeSecret(name, strings.HasSuffix(name, "…")) {
			quoted = strconv.Quote(withheldName)
		}
		b.WriteString(quoted)
	}
}

// mayBeSecret reports whether a name may contain a secret. A name that was truncated may be the
// beginning of a secret.
func mayBeSecret(name string, truncated bool) bool {
	return odd(name) && (truncated || secretIn()(name))
}

// anyOdd reports whether a pointer contains an odd name. It allocates no memory, because it is
// called for every report, and almost no pointer contains a secret.
func anyOdd(pointer string) bool {
	for name := range strings.SplitSeq(pointer, "/") {
		if odd(name) {
			return true
		}
	}
	return false
}

// odd reports whether a name is not defined by the format and is long enough to be a secret.
func odd(name string) bool {
	const short = 8
	return len(name) > short && strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
}

// secretIn returns a function that reports whether a string contains a secret. If the rules do not
// compile, secrets cannot be found, so the function always reports true. The rules are compiled
// only when they are first used, because few reports need them.
//
// On the verification page, the function always reports false. The page shows a file only to the
// person who opened it, on the same machine, and the detectors would make the page exceed its size
// limit. The condition is a constant, so that the compiler omits the detectors from the page.
var secretIn = sync.OnceValue(func() func(text string) bool {
	if runtime.GOOS == "js" {
		return func(string) bool { return false }
	}
	scanner, err := secret.Compile(secret.Default())
	return func(text string) bool { return err != nil || len(scanner.Scan([]byte(text), nil)) > 0 }
})
