package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A resource is an in-toto resource descriptor.
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// provenance writes provenance.json, a signed in-toto statement with the SLSA provenance v1
// predicate. The subjects of the statement are all other files.
func (r *release) provenance(ctx context.Context) error {
	subjects, err := r.digests()
	if err != nil {
		return err
	}
	statement, err := json.Marshal(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          "https://" + home + "/tree/main/internal/release",
				"externalParameters": map[string]any{"targets": r.targets},
				"resolvedDependencies": []resource{
					{URI: "git+https://" + home, Digest: map[string]string{"gitCommit": r.revision}},
					{URI: "pkg:golang/std@" + runtime.Version()},
				},
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "https://" + home + "/tree/main/internal/release"}},
		},
	})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(r.key)
	if err != nil {
		return err
	}
	key, err := keys.ParsePrivate(text)
	if err != nil {
		return err
	}
	e, err := attest.SignText(ctx, statement, keys.NewSigner(key, nil))
	if err != nil {
		return err
	}
	return r.write("provenance.json", e.Bytes())
}

// files returns the sorted names of the release files.
func (r *release) files() (names []string, err error) {
	err = filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(r.dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	slices.Sort(names)
	return names, err
}

// digests returns the names and digests of the release files, sorted by name.
func (r *release) digests() (list []resource, err error) {
	names, err := r.files()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return nil, err
		}
		list = append(list, resource{Name: name, Digest: map[string]string{"sha256": digest(data)}})
	}
	return list, nil
}

// sums writes SHA256SUMS in the format of sha256sum.
func (r *release) sums(context.Context) error {
	files, err := r.digests()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.Digest["sha256"] + "  " + f.Name + "\n")
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}
