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
)

// knownText has a line for each detector of [Default] and the like that is found by its
// anchors: its digest, and after tabs the texts of its anchors, with the escapes of Go. To
// know them without parsing its pattern saves nearly all of what compiling takes: most
// texts need few detectors.
//
//go:generate go test -run ^TestKnown$ -update
//go:embed known.txt
var knownText string

// knownAnchors returns the texts of the anchors of detectors that are valid, by digest.
// Nobody writes to them.
var knownAnchors = sync.OnceValue(parseKnown)

func parseKnown() map[digest][]string {
	known := make(map[digest][]string, strings.Count(knownText, "\n"))
	for line := range strings.Lines(knownText) {
		texts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var d digest
		_, err := hex.Decode(d[:], []byte(texts[0]))
		for i, text := range texts {
			if strings.Contains(text, `\`) && err == nil {
				texts[i], err = strconv.Unquote(`"` + text + `"`)
			}
		}
		if err != nil {
			panic(err) // it was generated, and tested
		}
		known[d] = texts[1:]
	}
	return known
}

// A digest stands for all of a detector but its name.
type digest [sha256.Size / 2]byte

// digestOf appends what it hashes to memory for that.
func digestOf(d *Detector, memory []byte) (digest, []byte) {
	b := memory[:0]
	b = appendText(b, d.Pattern)
	b = appendNumber(b, d.Group)
	b = appendTexts(b, d.Keywords)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(d.Entropy))
	b = appendTexts(b, d.Allow)
	b = appendTexts(b, d.StopWords)
	b = appendNumber(b, len(d.Allowed))
	for _, a := range d.Allowed {
		b = appendTexts(b, a.Patterns)
		b = appendNumber(b, int(a.Target))
		b = appendTexts(b, a.StopWords)
		b = strconv.AppendBool(b, a.All)
	}

	sum := sha256.Sum256(b)
	return digest(sum[:len(digest{})]), b
}

// Each is told from what follows: a text by its length, a list by its number.
func appendNumber(b []byte, n int) []byte { return binary.AppendVarint(b, int64(n)) }

func appendText(b []byte, text string) []byte { return append(appendNumber(b, len(text)), text...) }

func appendTexts(b []byte, list []string) []byte {
	b = appendNumber(b, len(list))
	for _, text := range list {
		b = appendText(b, text)
	}
	return b
}
