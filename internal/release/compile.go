package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A program is the receipt command for one operating system and architecture.
type program struct {
	system, arch string
	name         string // of the file
}

func (p program) is(system, arch string) bool { return p.system == system && p.arch == arch }

// command runs a command in a directory and returns its output. It clears the user's settings that
// change the output of "go build".
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(), "GOFLAGS=", "GOEXPERIMENT=", "GOTOOLCHAIN=local", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off", "CGO_ENABLED=0")
	c.Env = append(c.Env, env...)
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}

// clone clones the commit that is checked out, and reads the time of the commit.
func (r *release) clone(ctx context.Context) error {
	top, err := command(ctx, ".", nil, "git", "rev-parse", "--show-toplevel", "HEAD")
	if err != nil {
		return err
	}
	root, revision, _ := strings.Cut(strings.TrimSpace(string(top)), "\n")
	r.revision = revision
	if err := cloneTo(ctx, root, r.source, revision); err != nil {
		return err
	}

	stamp, err := command(ctx, r.source, nil, "git", "show", "--no-patch", "--format=%ct", revision)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(stamp)), 10, 64)
	r.time = time.Unix(seconds, 0).UTC()
	return err
}

func cloneTo(ctx context.Context, from, to, revision string) error {
	if _, err := command(ctx, ".", nil, "git", "clone", "--quiet", "--no-checkout", from, to); err != nil {
		return err
	}
	_, err := command(ctx, to, nil, "git", "checkout", "--quiet", "--detach", revision)
	return err
}

// A clone is a copy of the repository, with environment variables for its builds.
type clone struct {
	dir string
	env []string
}

// inBoth calls do for two clones at the same time.
func inBoth(clones [2]clone, do func(i int, c clone) error) error {
	var errs [2]error
	var group sync.WaitGroup
	for i, c := range clones {
		group.Go(func() { errs[i] = do(i, c) })
	}
	group.Wait()
	return errors.Join(errs[:]...)
}

// compile builds all programs twice, including the verification page, and compares the results.
func (r *release) compile(ctx context.Context) error {
	second := filepath.Join(filepath.Dir(r.source), "a-second-clone-with-another-name")
	if err := cloneTo(ctx, r.source, second, r.revision); err != nil {
		return err
	}
	clones := [2]clone{{r.source, nil}, {second, []string{"GOCACHE=" + r.cache}}}
	err := inBoth(clones, func(_ int, c clone) error {
		_, err := command(ctx, c.dir, c.env, "go", "generate", "./receipt/serve/page")
		return err
	})
	if err != nil {
		return err
	}

	for _, target := range r.targets {
		system, arch, found := strings.Cut(target, "/")
		if !found {
			return fmt.Errorf("target %q is not a system and an architecture", target)
		}
		p := program{system: system, arch: arch, name: "receipt-" + system + "-" + arch}
		if system == "windows" {
			p.name += ".exe"
		}
		var built [2][]byte
		err := inBoth(clones, func(i int, c clone) (err error) {
			built[i], err = p.build(ctx, c)
			return err
		})
		if err != nil {
			return err
		}
		if !bytes.Equal(built[0], built[1]) {
			return fmt.Errorf("two builds of %s differ", p.name)
		}
		if err := os.WriteFile(filepath.Join(r.dir, p.name), built[0], 0o777); err != nil {
			return err
		}
		r.programs = append(r.programs, p)
	}

	if len(r.programs) == 0 {
		return errors.New("no targets")
	}
	info, err := buildinfo.ReadFile(filepath.Join(r.dir, r.programs[0].name))
	if err != nil {
		return err
	}
	r.version = info.Main.Version

	// The program for this machine writes the documents and signs the files.
	_, err = program{system: runtime.GOOS, arch: runtime.GOARCH}.build(ctx, clones[0])
	return err
}

// build builds the program in a clone, and returns the bytes of the program.
func (p program) build(ctx context.Context, c clone) ([]byte, error) {
	out := filepath.Join(c.dir, "receipt-bin") // git ignores it
	env := append([]string{"GOOS=" + p.system, "GOARCH=" + p.arch}, c.env...)
	_, err := command(ctx, c.dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w -buildid=", "-o", out, "./cmd/receipt")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// documents runs the program for this machine to write the manual pages and the shell completions.
func (r *release) documents(ctx context.Context) error {
	if _, err := command(ctx, r.dir, nil, r.tool(), "man", "--dir", filepath.Join(r.dir, "man1")); err != nil {
		return err
	}
	for shell, name := range completions() {
		script, err := command(ctx, r.dir, nil, r.tool(), "completion", shell)
		if err != nil {
			return err
		}
		if err := r.write(name, script); err != nil {
			return err
		}
	}
	return nil
}

// completions maps each shell to the name of its completion file.
func completions() map[string]string {
	return map[string]string{"bash": "receipt.bash", "zsh": "_receipt", "fish": "receipt.fish", "powershell": "receipt.ps1"}
}
