package corpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Harm is a kind of damage.
type Harm string

// The harms.
const (
	// HarmHash replaces the last character of /identifiers/session_id, so that the content no
	// longer matches the stated hash. The signature and the links, which cover the stated hash,
	// remain valid.
	HarmHash Harm = "hash"

	// HarmSignature replaces the first character of the signature's base64.
	HarmSignature Harm = "signature"

	// HarmBreak removes the receipt, so that the next one in its stream names a predecessor that
	// does not exist. If the last receipt of a stream is missing, only a head that is known from
	// elsewhere shows it.
	HarmBreak Harm = "break"
)

// Damage is applied to one receipt after all receipts were generated, so that all other receipts
// are the same as in an undamaged corpus.
type Damage struct {
	Receipt int // its number, from 1
	Harm    Harm
}

// ParseDamage parses the form of String, such as 50000:hash.
func ParseDamage(text string) (Damage, error) {
	number, harm, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || !slices.Contains([]Harm{HarmHash, HarmSignature, HarmBreak}, Harm(harm)) {
		return Damage{}, fmt.Errorf("corpus: damage is N:%s, N:%s or N:%s, found %q", HarmHash, HarmSignature, HarmBreak, text)
	}
	return Damage{n, Harm(harm)}, nil
}

// String returns the form that ParseDamage parses.
func (d Damage) String() string { return fmt.Sprintf("%d:%s", d.Receipt, d.Harm) }

// apply returns the damaged receipt, and false if it was removed. The zero Damage does nothing.
func (d Damage) apply(r *record) ([]byte, bool) {
	switch d.Harm {
	case HarmBreak:
		return nil, false
	case HarmSignature:
		flip(r.text, r.signature+len("base64:"))
	case HarmHash:
		doc := new(canon.Document)
		mustParse(doc, r.text)
		id := doc.Root().Member("identifiers").Member("session_id")
		flip(r.text, id.Offset()+len(id.Raw())-len(`"`)-1)
	}
	return r.text, true
}

// flip replaces a digit or letter by another one.
func flip(text []byte, at int) {
	if text[at] == 'A' {
		text[at] = 'B'
	} else {
		text[at] = 'A'
	}
}
