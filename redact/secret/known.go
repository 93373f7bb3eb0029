package secret

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/redact/secret/internal/match"
)

// knownText has one line per detector in [Default] and similar lists. Each line contains the
// detector's digest and its anchor words, separated by tabs. If a detector has no anchors, an empty
// word and the keywords of the detector follow the digest. A detector with neither anchors nor
// keywords searches every string. Words are escaped as in Go strings. This list saves nearly all of
// the compilation time, because a pattern is parsed only when it is needed, and most strings need
// few patterns.
//
//go:generate go test -run ^TestKnown$ -update
//go:embed known.txt
var knownText string

// knowledgeOf returns the words of detectors that are known to be valid, keyed by digest. The map
// is read-only.
var knowledgeOf = sync.OnceValue(parseKnown)

func parseKnown() map[digest]match.Knowledge {
	all := make([]string, 0, strings.Count(knownText, "\t"))
	known := make(map[digest]match.Knowledge, strings.Count(knownText, "\n"))
	for line := range strings.Lines(knownText) {
		name, rest, some := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		var d digest
		_, err := hex.Decode(d[:], []byte(name))
		first, escapes := len(all), strings.Contains(rest, `\`)
		for text := ""; some && err == nil; {
			if text, rest, some = strings.Cut(rest, "\t"); escapes {
				text, err = strconv.Unquote(`"` + text + `"`)
			}
			all = append(all, text)
		}
		if err != nil {
			panic(err) // cannot happen, because knownText is generated and tested
		}

		// An empty word precedes the keywords.
		texts := all[first:len(all):len(all)]
		if len(texts) > 0 && texts[0] == "" {
			known[d] = match.Knowledge{Keywords: texts[1:]}
		} else {
			known[d] = match.Knowledge{Anchors: texts}
		}
	}
	return known
}

// A digest identifies the contents of a detector, which are all fields except the name.
type digest [sha256.Size / 2]byte

// A digester computes the digests of detectors. Many detectors share a list of stop words and a
// list of allowances, so a digester caches the digests of the most recent lists.
type digester struct {
	memory  []byte // buffer for the data to be hashed
	words   []string
	ofWords [sha256.Size]byte
	allowed []Allowance
	ofAll   [sha256.Size]byte
}

// of returns the digest of a detector.
func (g *digester) of(d *Detector) digest {
	if len(d.StopWords) > 0 && !sameList(d.StopWords, g.words) {
		g.memory = appendTexts(g.memory[:0], d.StopWords)
		g.words, g.ofWords = d.StopWords, sha256.Sum256(g.memory)
	}
	if len(d.Allowed) > 0 && !sameList(d.Allowed, g.allowed) {
		g.memory = appendAllowances(g.memory[:0], d.Allowed)
		g.allowed, g.ofAll = d.Allowed, sha256.Sum256(g.memory)
	}

	b := g.memory[:0]
	b = appendText(b, d.Pattern)
	b = appendNumber(b, d.Group)
	b = appendTexts(b, d.Keywords)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(d.Entropy))
	b = appendTexts(b, d.Allow)
	b = appendNumber(b, len(d.StopWords))
	if len(d.StopWords) > 0 {
		b = append(b, g.ofWords[:]...)
	}
	b = appendNumber(b, len(d.Allowed))
	if len(d.Allowed) > 0 {
		b = append(b, g.ofAll[:]...)
	}
	g.memory = b
	sum := sha256.Sum256(b)
	return digest(sum[:len(digest{})])
}

// sameList reports whether two non-empty lists are the same slice in memory.
func sameList[T any](a, b []T) bool { return len(a) == len(b) && &a[0] == &b[0] }

func appendAllowances(b []byte, list []Allowance) []byte {
	b = appendNumber(b, len(list))
	for _, a := range list {
		b = appendTexts(b, a.Patterns)
		b = appendNumber(b, int(a.Target))
		b = appendTexts(b, a.StopWords)
		b = strconv.AppendBool(b, a.All)
	}
	return b
}

// In the encoding of a detector, each string is preceded by its length and each list by the number
// of its elements, so that the encoding is unambiguous.
func appendNumber(b []byte, n int) []byte { return binary.AppendVarint(b, int64(n)) }

func appendText(b []byte, text string) []byte { return append(appendNumber(b, len(text)), text...) }

func appendTexts(b []byte, list []string) []byte {
	b = appendNumber(b, len(list))
	for _, text := range list {
		b = appendText(b, text)
	}
	return b
}
