// Command generate builds the verification page in the directory of package page:
//
//	dist/page.html             the page in one file, including WebAssembly; not committed
//	dist/served/page.html.gz   the same, compressed, as the command serves it; not committed
//	dist/report.min.js, .css   script and style of the printed report; committed
//
// With -site, it instead bundles the view of "receipt browse" into dist/site.min.js and
// dist/site.min.css, which are committed.
//
// It needs only the Go toolchain. The output depends only on the sources, the toolchain, and the
// libraries.
//
// This command is a separate module, so that importers of the library do not download a bundler.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "..", "work in this `folder`, of package page")
	out := flag.String("o", "dist", "write to this `folder`")
	site := flag.String("site", "", "bundle only the view of receipt browse in this `folder`")
	flag.Parse()
	err := error(nil)
	if *site != "" {
		err = writeSite(*site, *out)
	} else {
		err = run(*dir, *out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return generate(out)
}

// generate builds the page from the sources in the current directory.
func generate(out string) error {
	if err := writeReport(out); err != nil {
		return err
	}
	page, err := makePage()
	if err != nil {
		return err
	}

	packed, err := compress(page)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "page.html"), page); err != nil {
		return err
	}

	return write(filepath.Join(out, "served", "page.html.gz"), packed)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
