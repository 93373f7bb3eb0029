package corpus

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// A Form is a text with a secret between « and », or several. {a22} are 22 characters
// of an alphabet:
//
//	a  letters and digits     w  those, _ and -     b  base64
//	l  lower case and digits  u  upper case and digits
//	h  lower-case hex         d  digits
//
// and what people make up is {memo}, a word with a number, {phrase}, three words, {p14},
// a password with the signs that need no quotes, {x14}, one with every sign but quotes,
// and {dsc}, the number of an account of Discord. What begins with J: is a JSON value
// and not a text.
type Form string

// Write makes a text of a form, and returns what stood between « and ».
func (f Form) Write(r *rand.Rand) (text string, secrets []string) {
	marked := random(r, people(r, string(f)))
	for _, part := range strings.Split(marked, "«")[1:] {
		secret, _, _ := strings.Cut(part, "»")
		secrets = append(secrets, secret)
	}
	return strings.NewReplacer("«", "", "»", "").Replace(marked), secrets
}

// random writes what machines make.
func random(r *rand.Rand, text string) string {
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	alphabets := map[byte]string{'h': "0123456789abcdef", 'd': digits, 'l': lower + digits, 'u': strings.ToUpper(lower) + digits, 'a': lower + strings.ToUpper(lower) + digits}
	alphabets['w'], alphabets['b'] = alphabets['a']+"_-", alphabets['a']+"+/"

	return regexp.MustCompile(`\{[abdhluw][0-9]+\}`).ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		letters := alphabets[m[1]]
		var b strings.Builder
		for i := range n {
			if c := letters[r.IntN(len(letters))]; i > 0 && i < n-1 { // no _ or - at an end
				b.WriteByte(c)
			} else {
				b.WriteByte(letters[r.IntN(min(len(letters), 62))])
			}
		}
		return b.String()
	})
}

// people writes what people make up.
func people(r *rand.Rand, text string) string {
	words := strings.Fields("winter falcon copper meadow lantern harbor velvet thunder pickle rocket saffron walnut glacier domino tiger bamboo")
	word := func() string { return words[r.IntN(len(words))] }
	pick := func(letters string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}

	return regexp.MustCompile(`\{(?:memo|phrase|dsc|[px][0-9]+)\}`).ReplaceAllStringFunc(text, func(m string) string {
		switch m {
		case "{memo}":
			w := word()
			return strings.ToUpper(w[:1]) + w[1:] + pick("0123456789", 2+r.IntN(3)) + pick("!?#_+.", r.IntN(2))
		case "{phrase}":
			return word() + " " + word() + " " + word()
		case "{dsc}":
			return pick("TDjz", 1) + "EyMzQ1Njc4OTAxMjM0NTY3OA"[:23-r.IntN(2)]
		}

		// A password begins and ends with a letter, as most do.
		const letters, digits = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"
		signs := "!#^+=_-.?~@"
		if m[1] == 'x' {
			signs += "$%&*()[]{}<>;:,|/"
		}
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		return pick(letters, 1) + pick(digits, 1) + pick(letters+digits+signs, n-4) + pick(digits, 1) + pick(letters, 1)
	})
}
