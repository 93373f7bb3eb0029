package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// caseSchema marks a file as a case.
const caseSchema = "receipt-corpus-case-1"

// A testCase is the content of a case file. It describes the input for a verifier in a form that
// does not depend on any particular verifier.
type testCase struct {
	Schema  string    `json:"schema"`
	Task    string    `json:"task"` // verify, check_replay, or check_bundle
	Inputs  []input   `json:"inputs"`
	Options caseTerms `json:"options"`
	dir     string
}

// An input is a file of a case, relative to the directory of the case.
type input struct {
	Role string `json:"role"`
	File string `json:"file"`
}

// caseTerms contains the options of a case. The zero value of an option means that it is not
// required.
type caseTerms struct {
	Scope     string   `json:"scope"` // integrity, or "" for full
	At        string   `json:"at"`
	Issuer    string   `json:"issuer"`
	Strict    bool     `json:"strict"`
	Previous  string   `json:"previous"`
	Head      string   `json:"head"`
	Count     *uint64  `json:"count"`
	Partial   bool     `json:"partial"`
	Unordered bool     `json:"unordered"`
	Commit    string   `json:"commit"`
	Subjects  []string `json:"subjects"`
	Unsafe    bool     `json:"allow_secret_markers"`
}

// readCase reads the file of a case. It returns nil if the file is not marked as a case, for
// example, because it is a receipt.
func readCase(path string) (*testCase, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	var mark struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(data, &mark) != nil || mark.Schema != caseSchema {
		return nil, nil
	}

	// An unknown option could change the outcome, so it is not ignored.
	c := &testCase{dir: filepath.Dir(path)}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("reading case %q: %w", path, err)
	}
	return c, nil
}

// roles contains, for each task, the roles of its inputs and the flags of the command that accept
// these inputs. If the flag is "", the input is an argument.
var roles = map[string]map[string]string{
	"verify":       {"receipts": "", "trust": "keys", "policy": "policy", "checkpoint": "checkpoint", "proof": "proof", "batch": "batch", "disclosures": "disclosures"},
	"check_replay": {"receipts": "", "trust": "keys", "policy": "policy", "log": "log", "request": "request", "source": "source"},
	"check_bundle": {"bundle": ""},
}

// line returns the command line of receipt for the case and the inputs that are its arguments.
func (c *testCase) line() (args, paths []string, err error) {
	flags, known := roles[c.Task]
	if !known {
		return nil, nil, fmt.Errorf("unknown task %q", c.Task)
	}
	args = map[string][]string{
		"verify":       {"verify", "--format", "json", "--progress", "never"},
		"check_replay": {"replay", "check", "--format", "json"},
		"check_bundle": {"bundle", "validate", "--json"},
	}[c.Task]

	// An input with an unknown role could be evidence that changes the outcome.
	for _, in := range c.Inputs {
		flag, known := flags[in.Role]
		path := filepath.Join(c.dir, filepath.FromSlash(in.File))
		switch {
		case !known:
			return nil, nil, fmt.Errorf("unknown role %q for the task %s", in.Role, c.Task)
		case flag == "":
			paths = append(paths, path)
		default:
			args = append(args, "--"+flag, path)
		}
	}

	args = append(args, c.Options.flags()...)
	return append(append(args, "--"), paths...), paths, nil
}

// flags returns the options as flags.
func (o *caseTerms) flags() (args []string) {
	for _, f := range []struct{ name, value string }{
		{"at", o.At}, {"issuer", o.Issuer}, {"previous", o.Previous}, {"expect-head", o.Head}, {"commit", o.Commit},
	} {
		if f.value != "" {
			args = append(args, "--"+f.name, f.value)
		}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"integrity-only", o.Scope == "integrity"}, {"strict", o.Strict}, {"partial", o.Partial}, {"unordered", o.Unordered}, {"allow-unsafe-secret-markers", o.Unsafe},
	} {
		// A switch that is not set has the default of the command.
		if f.set {
			args = append(args, "--"+f.name)
		}
	}

	if o.Count != nil {
		args = append(args, fmt.Sprintf("--expect-count=%d", *o.Count))
	}
	for _, s := range o.Subjects {
		args = append(args, "--subject", s)
	}
	return args
}
