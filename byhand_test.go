package receiptkit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// harnHash is the computed hash of the upstream receipt. The file itself contains a dummy hash.
const harnHash = "sha256:6dda1c76c5adc8c210892ba1b7e566dd3b6e3644f7ab6b0dcd14ae34a0b323a7"

// snippet returns the fenced block in docs/by-hand.md that is written in the given language and
// contains the given string. There must be exactly one such block.
func snippet(t *testing.T, language, containing string) string {
	t.Helper()
	doc, err := os.ReadFile("docs/by-hand.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(doc), -1) {
		if m[1] == language && strings.Contains(m[2], containing) {
			found = append(found, m[2])
		}
	}
	if len(found) != 1 {
		t.Fatalf("docs/by-hand.md has %d blocks of %s with %q", len(found), language, containing)
	}
	return found[0]
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s", program)
	}
}

// A byHand is a program in the document that prints the preimage of a receipt.
type byHand struct{ program, language, containing, file string }

var byHands = []byHand{
	{"node", "js", "canonical", "preimage.mjs"},
	{"python3", "python", "canonical", "preimage.py"},
}

// install writes the program to a directory and returns a function that runs it.
func (b byHand) install(t *testing.T) func(receipt string) ([]byte, error) {
	t.Helper()
	file := b.write(t)
	return func(receipt string) ([]byte, error) { return output(b.program, file, receipt) }
}

// write writes the program to a directory.
func (b byHand) write(t *testing.T) (file string) {
	t.Helper()
	need(t, b.program)
	file = filepath.Join(t.TempDir(), b.file)
	if err := os.WriteFile(file, []byte(snippet(t, b.language, b.containing)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each loop runs a program once per receipt and prints a zero byte after each preimage. Only one
// process is started, because starting node or python3 takes longer than running the program.
var loops = map[string]string{
	"node": `
		const [program, ...receipts] = process.argv.slice(1);
		for (const [i, receipt] of receipts.entries()) {
			process.argv = ["node", program, receipt];
			await import(program + "?" + i); // another address: it runs again
			process.stdout.write("\0");
		}`,
	"python3": `
import runpy, sys
program, *receipts = sys.argv[1:]
for receipt in receipts:
	sys.argv = [program, receipt]
	runpy.run_path(program, run_name="__main__")
	sys.stdout.buffer.write(b"\0")`,
}

// preimages returns the output of the program for each of several receipts.
func (b byHand) preimages(t *testing.T, receipts []string) [][]byte {
	t.Helper()
	program, args := b.write(t), []string{"-c", loops[b.program]}
	if b.program == "node" {
		program = "file://" + program
		args = []string{"--input-type=module", "--eval", loops[b.program], "--"}
	}
	out, err := output(b.program, slices.Concat(args, []string{program}, receipts)...)
	if err != nil {
		t.Fatal(err)
	}
	list := bytes.Split(out, []byte{0})
	if len(list) != len(receipts)+1 || len(list[len(receipts)]) > 0 {
		t.Fatalf("%s: %d preimages of %d receipts", b.program, len(list)-1, len(receipts))
	}
	return list[:len(receipts)]
}

func output(program string, args ...string) ([]byte, error) {
	out, err := exec.Command(program, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

func TestByHandHash(t *testing.T) {
	harn := filepath.Join(vectors.Dir(t, "harn"), "task-receipt.json")
	files := append([]string{harn}, vectors.Files(t, 1, "fixtures/valid", "*.json")...)
	for _, b := range byHands {
		t.Run(b.program, func(t *testing.T) {
			for i, preimage := range b.preimages(t, files) {
				want := harnHash
				if files[i] != harn {
					want = stated(t, files[i])
				}
				if got := canon.Sum(preimage).String(); got != want {
					t.Errorf("%s: got %s, want %s", files[i], got, want)
				}
			}
		})
	}
}

func stated(t *testing.T, file string) string {
	t.Helper()
	return parseFile(t, file).Root().Member("chain").Member("receipt_hash").String()
}

func parseFile(t *testing.T, file string) *canon.Document {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestByHandPreimage verifies that the programs produce the same preimages as this module, byte for
// byte, for numbers and names that are hard to canonicalize.
func TestByHandPreimage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hard.json")
	if err := os.WriteFile(file, hard(), 0o644); err != nil {
		t.Fatal(err)
	}
	want, err := chain.AppendPreimage(nil, parseFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range byHands {
		t.Run(b.program, func(t *testing.T) {
			got, err := b.install(t)(file)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v\n%s", err, difference(got, want))
			}
		})
	}
}

func difference(got, want []byte) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	near := func(b []byte) []byte { return b[max(0, min(i, len(b))-30):min(i+30, len(b))] }
	return fmt.Sprintf("at byte %d: got %q, want %q", i, near(got), near(want))
}

// hard returns a receipt-like document with numbers and names that are hard to canonicalize. The
// seed of the random numbers is fixed.
func hard() []byte {
	random := rand.New(rand.NewPCG(8785, 1))
	numbers := []string{
		"0", "-0", "-0.0", "1.0", "10e1", "1e20", "1e21", "123456789012345680000", "1e-6", "1e-7", "0.000001234", "1.234e-7",
		"5e-324", "1.7976931348623157e308", "9007199254740991", "-1.5", "0.1842", "2.0", "1E+2", "1e-999", "333333333.33333329",
	}
	for range 3000 {
		if f := math.Float64frombits(random.Uint64()); f-f == 0 {
			numbers = append(numbers, strconv.FormatFloat(f, 'g', -1, 64))
		}
		power := strconv.Itoa(random.IntN(60) - 30)
		numbers = append(numbers, strconv.Itoa(random.IntN(100000))+"e"+power)
	}
	names := []string{
		`"\u20ac"`, `"\r"`, `"\ufb33"`, `"1"`, `"\ud83d\ude00"`, `"\u0080"`, `"\u00f6"`, `"__proto__"`, `"10"`, `"2"`, `""`,
		`"a/b"`, `"\u007f"`, `"\u2028"`, `"<&>"`, `"\u0000\u0008\u000b\u001f\"\\\/"`, `"constructor"`, `"signatures"`, `"\uffff"`,
	}
	var members []string
	for _, name := range names {
		members = append(members, name+": "+name)
	}
	return fmt.Appendf(nil, `{"signatures": [1], "numbers": [%s], "names": {%s}, "chain": {"receipt_hash": "x", "signatures": []}, "t": [true, false, null, {}, []]}`,
		strings.Join(numbers, ", "), strings.Join(members, ", "))
}

func TestByHandSignature(t *testing.T) {
	need(t, "openssl")
	need(t, "sh")
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	x := base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(harnHash)))
	verify(t, harnHash, signature, x, true)
	verify(t, strings.Replace(harnHash, "6dda", "6ddb", 1), signature, x, false)

	checked := 0
	trusted := parseFile(t, "fixtures/keys/trust.json").Root().Member("keys")
	for _, file := range vectors.Files(t, 1, "fixtures/valid", "*.json") {
		for _, s := range parseFile(t, file).Root().Member("signatures").Elements() {
			for _, k := range trusted.Elements() {
				if s.Member("algorithm").String() == "ed25519" && k.Member("kid").String() == s.Member("key_id").String() {
					checked++
					verify(t, stated(t, file), strings.TrimPrefix(s.Member("signature").String(), "base64:"), k.Member("x").String(), true)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("fixtures/valid has no ed25519 signature by a key of fixtures/keys/trust.json")
	}
}

func verify(t *testing.T, hash, signature, x string, want bool) {
	t.Helper()
	cmd := exec.Command("sh", "-c", snippet(t, "sh", "openssl pkeyutl"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "hash="+hash, "signature="+signature, "x="+x)
	out, err := cmd.CombinedOutput()
	if bytes.Contains(out, []byte("rawin")) && !bytes.Contains(out, []byte("Verif")) {
		t.Skipf("this openssl is too old: %s", out)
	}
	if got := err == nil; got != want || got != bytes.Contains(out, []byte("Signature Verified Successfully")) {
		t.Errorf("hash %s: want verified %t, got %v: %s", hash, want, err, out)
	}
}
