// Command release builds the files for a release of the command "receipt" in a new directory, from
// the commit that is checked out:
//
//	go run -C internal/release . -key KEY -output DIR [-targets linux/amd64,darwin/arm64]
//
// It builds each program twice, in two clones with two separate build caches, and fails if any byte
// differs. All files have the time of the commit. KEY is an Ed25519 private key from "receipt keys
// generate --issuer receipt-release", which must sign nothing but releases.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const home = "github.com/receiptkit/receiptkit"

// A release contains the settings and the state of building a release.
type release struct {
	dir     string // directory for the release files; must not exist
	key     string // the private key file
	targets []string
	cache   string // build cache for the second builds; "": a new cache

	source   string // directory of the clone
	revision string // the commit
	version  string // version of the module, as recorded by "go build"
	time     time.Time
	programs []program
	started  time.Time
}

func main() {
	key := flag.String("key", "", "private key that signs the provenance")
	output := flag.String("output", "", "new directory")
	targets := flag.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "systems and architectures")
	cache := flag.String("cache", "", "build cache of the second builds (default: a new one)")
	flag.Parse()
	if *key == "" || *output == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "release: usage: release -key KEY -output DIR [-targets LIST]")
		os.Exit(2)
	}
	r := &release{dir: *output, key: *key, targets: strings.Split(*targets, ","), cache: *cache}
	if err := r.build(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// build builds a release.
func (r *release) build(ctx context.Context) (err error) {
	if r.dir, err = filepath.Abs(r.dir); err != nil {
		return err
	}
	if r.key, err = filepath.Abs(r.key); err != nil {
		return err
	}
	r.started = time.Now()
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	r.source = filepath.Join(work, "first")
	r.cache = cmp.Or(r.cache, filepath.Join(work, "cache"))
	for _, step := range []func(context.Context) error{r.clone, r.compile, r.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the files that depend on the programs.
func (r *release) finish(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.documents, r.bills, r.image, r.packages, r.formula, r.provenance, r.attestation, r.sums} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write writes one file of the release.
func (r *release) write(name string, data []byte) error {
	return writeFile(filepath.Join(r.dir, name), data)
}

func writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o666) }

// tool returns the path of the program for this machine.
func (r *release) tool() string { return filepath.Join(r.source, "receipt-bin") }
