package main

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// What packages state.
const (
	description = "Create and verify receipts of AI agent tasks"
	maintainer  = "The maintainers of receiptkit"
	license     = "Apache-2.0"
)

// packages writes a .deb and an .rpm file for each Linux program, with the manual pages and the
// completions.
func (r *release) packages(context.Context) error {
	for _, p := range r.programs {
		if p.system != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			packager, err := nfpm.Get(format)
			if err != nil {
				return err
			}
			info, err := r.info(p, format)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := packager.Package(info, &b); err != nil {
				return err
			}
			if err := r.write(p.name+"."+format, b.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) info(p program, format string) (*nfpm.Info, error) {
	pages, err := filepath.Glob(filepath.Join(r.dir, "man1", "*.1"))
	if err != nil {
		return nil, err
	}
	contents := files.Contents{r.content(p.name, "/usr/bin/receipt", 0o755)}
	for _, page := range pages {
		name := filepath.Base(page)
		contents = append(contents, r.content("man1/"+name, "/usr/share/man/man1/"+name, 0o644))
	}
	for shell, dir := range map[string]string{"bash": "bash-completion/completions/receipt", "zsh": "zsh/site-functions/_receipt", "fish": "fish/vendor_completions.d/receipt.fish"} {
		contents = append(contents, r.content(completions()[shell], "/usr/share/"+dir, 0o644))
	}

	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "receipt", Arch: p.arch, Platform: "linux", Version: r.version, Section: "utils", Priority: "optional",
		Maintainer: maintainer, License: license, Homepage: "https://" + home,
		Description: description, MTime: r.time,
	})
	info.Contents, info.RPM.BuildHost = contents, "localhost"
	return info, nfpm.PrepareForPackager(info, format)
}

func (r *release) content(source, target string, mode fs.FileMode) *files.Content {
	return &files.Content{Source: filepath.Join(r.dir, source), Destination: target, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}}
}
