package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
)

// corpusPath is the path of the corpus, relative to this directory.
const corpusPath = "../fixtures/corpus"

// A corpusCase is a case in the manifest of the corpus.
type corpusCase struct {
	File     string `json:"file"`
	Subject  string `json:"subject"`
	About    string `json:"conditions"`
	Expected struct {
		Outcome string `json:"outcome"`
		Code    string `json:"code"`
	} `json:"expected"`
}

func loadCorpus() ([]corpusCase, error) {
	data, err := os.ReadFile(filepath.Join(corpusPath, "MANIFEST.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Vectors []corpusCase `json:"vectors"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest of the corpus: %w", err)
	}
	if len(manifest.Vectors) < 400 {
		return nil, fmt.Errorf("the corpus has %d cases, expected at least 400", len(manifest.Vectors))
	}
	return manifest.Vectors, nil
}

// An answer is a result line as defined by the conformance contract.
type answer struct {
	Verdict string `json:"verdict"`
	Code    string `json:"code"`
}

// A testCase is a case in the corpus without its expected outcome.
type testCase struct {
	Schema  string         `json:"schema"`
	Task    string         `json:"task"`
	Inputs  []input        `json:"inputs"`
	Options map[string]any `json:"options"`
}

type input struct {
	Role string `json:"role"`
	File string `json:"file"`
}

// A caseMill creates mutants of cases with evidence. The verifiers are compared on these mutants by
// running commands. The same seed always leads to the same mutants.
type caseMill struct {
	rand     *rand.Rand
	cases    []testCase
	attested []*mutate.Value // attestation statements about receipts in the fixtures
	signers  map[string]ed25519.PrivateKey
}

// newCaseMill reads the cases that consist of more than a single receipt, and uses the command to
// create attestations of receipts in the fixtures.
func newCaseMill(command string, seed uint64) (*caseMill, error) {
	m := &caseMill{rand: rand.New(rand.NewPCG(seed, 1)), signers: map[string]ed25519.PrivateKey{}}
	vectors, err := loadCorpus()
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		if v.Subject == "receipt" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(corpusPath, v.File))
		if err != nil {
			return nil, err
		}
		var c testCase
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", v.File, err)
		}
		for i, in := range c.Inputs {
			c.Inputs[i].File = filepath.Join(filepath.Dir(filepath.Join(corpusPath, v.File)), in.File)
		}
		m.cases = append(m.cases, c)
	}

	for _, id := range []string{"key_2026_04", "key_second", "key_expired", "key_stranger", "witness_1"} {
		if m.signers[id], err = privateKey(id); err != nil {
			return nil, err
		}
	}
	for _, file := range []string{"full", "minimal", "task", "task-failed", "task-replay", "witnessed"} {
		out, err := exec.Command(command, "attest", "../fixtures/valid/"+file+".json", "--key", "../fixtures/keys/key_2026_04.private.json").Output()
		if err != nil {
			return nil, fmt.Errorf("attesting %s: %w", file, err)
		}
		statement, err := statementOf(out)
		if err != nil {
			return nil, fmt.Errorf("reading the attestation of %s: %w", file, err)
		}
		m.attested = append(m.attested, statement)
	}
	return m, nil
}

// privateKey returns an Ed25519 key from the fixtures.
func privateKey(id string) (ed25519.PrivateKey, error) {
	text, err := fixtures.Read("keys/" + id + ".private.json")
	if err != nil {
		return nil, err
	}
	var jwk struct{ D string }
	if err := json.Unmarshal(text, &jwk); err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	private, err := base64.RawURLEncoding.DecodeString(jwk.D)
	if err != nil || len(private) != ed25519.SeedSize {
		return nil, fmt.Errorf("reading %s: not an Ed25519 key", id)
	}
	return ed25519.NewKeyFromSeed(private), nil
}

// A bundle is an attestation in the form of a Sigstore bundle.
type bundle struct {
	MediaType            string `json:"mediaType"`
	VerificationMaterial struct {
		PublicKey struct {
			Hint string `json:"hint"`
		} `json:"publicKey"`
	} `json:"verificationMaterial"`
	Envelope struct {
		Payload     []byte      `json:"payload"`
		PayloadType string      `json:"payloadType"`
		Signatures  []signature `json:"signatures"`
	} `json:"dsseEnvelope"`
}

type signature struct {
	Sig []byte `json:"sig"`
}

func statementOf(attestation []byte) (*mutate.Value, error) {
	var b bundle
	if err := json.Unmarshal(attestation, &b); err != nil {
		return nil, err
	}
	statement := mutate.Parse(b.Envelope.Payload)
	if statement == nil {
		return nil, errors.New("the payload is not JSON")
	}
	return statement, nil
}

// next returns a case in which one input is replaced by the returned mutant. In the case, this
// input has no file.
func (m *caseMill) next() (c testCase, mutant []byte, err error) {
	if m.rand.IntN(3) == 0 {
		return testCase{
			Schema: "receipt-corpus-case-1", Task: "verify", Options: map[string]any{},
			Inputs: []input{{Role: "receipts"}, {Role: "trust", File: "../fixtures/keys/trust.json"}},
		}, m.attestation(), nil
	}

	c = m.cases[m.rand.IntN(len(m.cases))]
	c.Inputs = slices.Clone(c.Inputs)
	i := m.rand.IntN(len(c.Inputs))
	for c.Inputs[i].Role == "trust" || c.Inputs[i].Role == "policy" {
		i = m.rand.IntN(len(c.Inputs))
	}
	text, err := os.ReadFile(c.Inputs[i].File)
	c.Inputs[i].File = ""
	return c, m.damage(text), err
}

// damage changes the structure of a JSON text, or the bytes of any other input.
func (m *caseMill) damage(text []byte) []byte {
	tree := mutate.Parse(text)
	if tree == nil || m.rand.IntN(4) == 0 {
		return mutate.Text(m.rand, text)
	}
	mutate.Structure(m.rand, tree, m.attested[m.rand.IntN(len(m.attested))].Clone())
	return tree.Append(nil)
}

// attestation returns an attestation of a statement. The statement may have been changed, and the
// attestation may be damaged. The key that signs the attestation might not be accepted.
func (m *caseMill) attestation() []byte {
	statement, donor := m.attested[m.rand.IntN(len(m.attested))].Clone(), m.attested[m.rand.IntN(len(m.attested))].Clone()
	switch m.rand.IntN(4) {
	case 0:
		mutate.Structure(m.rand, statement, donor)
	case 1:
		if subject := statement.Member("subject"); subject != nil {
			mutate.Structure(m.rand, subject, donor)
		}
	}
	payload := statement.Append(nil)
	if canonical, err := canon.Transform(payload); err == nil && m.rand.IntN(8) > 0 {
		payload = canonical
	}

	ids := slices.Sorted(maps.Keys(m.signers))
	signer := ids[m.rand.IntN(len(ids))]
	if m.rand.IntN(2) == 0 {
		signer = "key_2026_04"
	}
	var b bundle
	b.MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	b.VerificationMaterial.PublicKey.Hint = signer
	b.Envelope.PayloadType = "application/vnd.in-toto+json"
	b.Envelope.Payload = payload
	message := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(b.Envelope.PayloadType), b.Envelope.PayloadType, len(payload), payload)
	b.Envelope.Signatures = []signature{{ed25519.Sign(m.signers[signer], message)}}
	encoded, err := json.Marshal(b)
	if err != nil {
		panic(err) // cannot fail, because a bundle consists of strings and bytes
	}
	if m.rand.IntN(3) == 0 {
		return m.damage(encoded)
	}
	return encoded
}

// compareCases returns how often the command reached each verdict for n mutants of cases and the
// mutants for which JavaScript disagrees. A mutant that neither verifier answers, for example
// because its evidence is unreadable, is counted as "no answer".
func compareCases(n int, seed uint64) (counts map[string]int, differences []difference, err error) {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	command, err := build(dir)
	if err != nil {
		return nil, nil, err
	}
	m, err := newCaseMill(command, seed)
	if err != nil {
		return nil, nil, err
	}

	counts = map[string]int{}
	for done := 0; done < n; {
		paths := make([]string, min(1000, n-done))
		mutants := make([][]byte, len(paths))
		for i := range paths {
			c, mutant, err := m.next()
			if err != nil {
				return nil, nil, err
			}
			if paths[i], err = writeCase(dir, i, c, mutant); err != nil {
				return nil, nil, err
			}
			mutants[i] = mutant
		}
		library, err := inHalves(paths, func(part []string) ([]string, error) { return askLibrary(command, part) })
		if err != nil {
			return nil, nil, err
		}
		javascript, err := inHalves(paths, func(part []string) ([]string, error) {
			return ask(append(slices.Clone(javascriptCases), "--cases"), part)
		})
		if err != nil {
			return nil, nil, err
		}

		for i, mutant := range mutants {
			a, b := outcome(library[i]), outcome(javascript[i])
			switch {
			case a == "" || b == "":
				counts["no answer"]++
			case a == b:
				counts[a]++
			default:
				text, err := os.ReadFile(paths[i])
				if err != nil {
					return nil, nil, err
				}
				differences = append(differences, difference{done + i, []string{library[i], javascript[i]}, slices.Concat(text, []byte("\n"), mutant)})
			}
		}
		done += len(paths)
	}
	return counts, differences, nil
}

// writeCase writes a case and its mutant below dir, and returns the path of the case.
func writeCase(dir string, number int, c testCase, mutant []byte) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%06d", number)
	for i, in := range c.Inputs {
		if in.File == "" {
			c.Inputs[i].File = name + ".mutant"
		} else if c.Inputs[i].File, err = filepath.Rel(dir, filepath.Join(here, in.File)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".json")
	return path, errors.Join(os.WriteFile(path, text, 0o600), os.WriteFile(filepath.Join(dir, name+".mutant"), mutant, 0o600))
}

// inHalves asks about both halves of the cases at the same time, and joins the answers.
func inHalves(paths []string, ask func(paths []string) ([]string, error)) ([]string, error) {
	half := (len(paths) + 1) / 2
	var answers [2][]string
	var errs [2]error
	var group sync.WaitGroup
	for i, part := range [][]string{paths[:half], paths[half:]} {
		group.Go(func() { answers[i], errs[i] = ask(part) })
	}
	group.Wait()
	return slices.Concat(answers[:]...), errors.Join(errs[:]...)
}

// askLibrary returns the command's line for each case.
func askLibrary(command string, paths []string) ([]string, error) {
	// If there are several files, the output has one line per file.
	arguments := append([]string{"conformance", "answer", os.DevNull}, paths...)
	lines, err := answers(exec.Command(command, arguments...), len(paths)+1)
	if err != nil {
		return nil, err
	}
	return lines[1:], nil
}

// ask runs a verifier that reads paths from standard input, and returns its line for each case.
func ask(command, paths []string) ([]string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
	return answers(cmd, len(paths))
}

// answers runs a command and returns its n lines of output.
func answers(cmd *exec.Cmd, n int) ([]string, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != n {
		return nil, fmt.Errorf("%s: %d answers to %d cases", cmd.Path, len(lines), n)
	}
	return lines, nil
}

// outcome returns the verdict in a line, or "" if there is none.
func outcome(line string) string {
	var a answer
	if json.Unmarshal([]byte(line), &a) != nil {
		return ""
	}
	return a.Verdict
}

// build builds the command "receipt" in dir and returns the path of the command.
func build(dir string) (string, error) {
	path := filepath.Join(dir, "receipt")
	cmd := exec.Command("go", "build", "-C", "..", "-o", path, "./cmd/receipt")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	return path, nil
}
