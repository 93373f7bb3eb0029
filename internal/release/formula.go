package main

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed receipt.rb.tmpl
var formula string

// formula writes receipt.rb, a Homebrew formula that installs the programs in a release.
func (r *release) formula(context.Context) error {
	t, err := template.New("").Parse(formula)
	if err != nil {
		return err
	}
	type asset struct{ System, Arch, Name, SHA256 string }
	data := struct {
		Home, Tag, Version, Description, License string
		Assets                                   []asset
	}{home, r.version, strings.TrimPrefix(r.version, "v"), description, license, nil}
	for _, p := range r.programs {
		text, err := os.ReadFile(filepath.Join(r.dir, p.name))
		if err != nil {
			return err
		}
		system := map[string]string{"darwin": "macos", "linux": "linux"}[p.system]
		arch := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
		if system != "" {
			data.Assets = append(data.Assets, asset{system, arch, p.name, digest(text)})
		}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	return r.write("receipt.rb", b.Bytes())
}
