package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A corpus is a list of questions with known answers.
type corpus struct {
	suite, digest string
	questions     []question
}

// A question is a file for which a verifier is run once.
type question struct {
	id, subject, about string
	file               string
	env                []string // additional environment variables
	want               answer
	permitted          []answer // other results that a specification permits
}

// accepts reports whether an answer has the expected verdict, or the verdict of a permitted result.
func (q *question) accepts(a *answer) bool {
	for _, p := range q.permitted {
		if a.Verdict == p.Verdict {
			return true
		}
	}
	return a.Verdict == q.want.Verdict
}

// A manifest is the file MANIFEST.json of a corpus. Third-party manifests contain verdicts instead
// of outcomes. They also contain other expected answers for key sets whose validity periods are
// ignored or absent.
type manifest struct {
	Suite        string
	CorpusDigest string
	Vectors      []struct {
		ID, File, Subject, Conditions string
		Inputs                        []input
		Expected                      expected
		ExpectedIfNotHonoured         *answer
		ExpectedWithoutWindows        *answer
	}
}

// An expected result is the outcome of a case. In a third-party corpus, it is the verdict.
type expected struct {
	Outcome, Verdict string
	Code             *string
}

func (x *expected) answer() (answer, error) {
	verdict := x.Verdict // in a third-party corpus
	switch x.Outcome {
	case "verified":
		verdict = "valid"
	case "refuted":
		verdict = "invalid"
	case "undecided":
		verdict = "undecidable"
	}

	a := answer{Verdict: verdict, Code: x.Code}
	if a.status() < 0 {
		return a, fmt.Errorf("unknown outcome %q", x.Outcome+x.Verdict)
	}
	return a, nil
}

// openCorpus reads the corpus in a directory, and checks that no file was changed.
func openCorpus(dir string) (*corpus, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return openExpected(dir)
	}
	if err != nil {
		return nil, err
	}

	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("reading MANIFEST.json: %w", err)
	}

	c := &corpus{suite: m.Suite, digest: m.CorpusDigest}
	for _, v := range m.Vectors {
		want, err := v.Expected.answer()
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", v.ID, err)
		}

		q := question{id: v.ID, subject: v.Subject, about: v.Conditions, file: filepath.Join(dir, filepath.FromSlash(v.File)), want: want}
		if v.ExpectedIfNotHonoured != nil {
			q.permitted = []answer{*v.ExpectedIfNotHonoured}
		}

		// A changed file would make the expected outcome incorrect.
		for _, path := range append([]input{{File: v.File}}, v.Inputs...) {
			if err := unchanged(dir, path.File); err != nil {
				return nil, err
			}
		}

		c.addWindows(dir, q, v.ExpectedWithoutWindows)
	}
	return c, nil
}

// unchanged checks a file against the digest in its name.
func unchanged(dir, path string) error {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return fmt.Errorf("file %q is outside of the corpus", path)
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return err
	}

	sum := sha256.Sum256(data)
	name := filepath.Base(path)
	if want := "v" + hex.EncodeToString(sum[:8]); strings.TrimSuffix(name, filepath.Ext(name)) != want {
		return fmt.Errorf("file %q was changed: its content has the name %s", path, want)
	}
	return nil
}

// The key sets of a corpus of third-party receipts.
const (
	windowKeys   = "keys/jwks.json"
	noWindowKeys = "keys/jwks-no-window.json"
)

// addWindows adds a question. In a third-party corpus, the question is asked with two key sets.
func (c *corpus) addWindows(dir string, q question, without *answer) {
	keys := filepath.Join(dir, filepath.FromSlash(windowKeys))
	if _, err := os.Stat(keys); err != nil {
		c.questions = append(c.questions, q)
		return
	}

	// If the key set has no validity periods, a receipt outside them is valid.
	other := q
	q.env = []string{jwksVariable + "=" + keys}
	other.env = []string{jwksVariable + "=" + filepath.Join(dir, filepath.FromSlash(noWindowKeys))}
	other.id += " (keys without windows)"
	if without != nil {
		other.want, other.permitted = *without, nil
	}
	c.questions = append(c.questions, q, other)
}

// openExpected reads a corpus of third-party receipts that has its answers in expected.json.
func openExpected(dir string) (*corpus, error) {
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		return nil, err
	}
	var entries map[string]struct {
		Kind                        string
		WithWindows, WithoutWindows answer
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("reading expected.json: %w", err)
	}

	sum := sha256.Sum256(data)
	c := &corpus{suite: filepath.Base(dir), digest: "sha256:" + hex.EncodeToString(sum[:])}
	for id, x := range entries {
		path := "receipts/" + id + ".json"
		if err := unchanged(dir, path); err != nil {
			return nil, err
		}

		q := question{id: id, subject: "receipt", about: x.Kind, file: filepath.Join(dir, filepath.FromSlash(path)), want: x.WithWindows}
		c.addWindows(dir, q, &x.WithoutWindows)
	}

	// The entries are a map, and reports must not depend on its order.
	slices.SortFunc(c.questions, func(a, b question) int { return strings.Compare(a.id, b.id) })
	return c, nil
}
