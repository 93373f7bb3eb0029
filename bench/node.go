package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/schemas"
)

// againstNode compares verification with an obvious JavaScript implementation (node/verify.mjs), if
// node and npm are available.
func (b *bench) againstNode() []result.Line {
	line := result.Line{ID: "full/node", Measure: "verify, × node with ajv and canonicalize", Unit: "×"}
	n, err := b.startNode()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		line.Absent, line.Note = true, "no node or no npm"
		return []result.Line{line}
	case errors.Is(err, errInstall):
		line.Absent, line.Note = true, "npm installs nothing here"
		return []result.Line{line}
	}
	check(err)
	defer n.stop()
	b.sample.warm()
	us := ours(b.sample.set)
	check(n.agree(b.sample, us))
	times := must(race.Rounds(b.ctx, b.rounds, us.turn(b.sample), n.time))
	r := times.Ratio(1, 0)
	line.Seen, line.Worst, line.Note = r.Median, r.Least, n.version
	return []result.Line{line}
}

var errInstall = errors.New("npm install failed")

// A node is a Node.js process that verifies receipts on request.
type node struct {
	version string
	slices  []string // files that contain the receipts for each round
	bad     string   // a file that contains altered receipts
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startNode installs the dependencies of verify.mjs and starts the program. If node or npm is
// missing, the error is exec.ErrNotFound.
func (b *bench) startNode() (*node, error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(b.dir, "node")
	if err := os.CopyFS(dir, os.DirFS("node")); err != nil {
		return nil, err
	}
	install := exec.CommandContext(b.ctx, "npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	install.Dir, install.Stderr = dir, os.Stderr
	if err := install.Run(); err != nil {
		return nil, errInstall // npm has already printed the reason
	}
	version, err := exec.CommandContext(b.ctx, "node", "--version").Output()
	if err != nil {
		return nil, err
	}
	n := &node{version: strings.TrimSpace(string(version))}
	if err := n.write(dir, b.sample); err != nil {
		return nil, err
	}
	return n, n.start(b.ctx, dir)
}

// write writes the files for node to read.
func (n *node) write(dir string, s *sample) error {
	schema, _ := schemas.Source(schemas.Receipt)
	files := map[string][]byte{"schema.json": schema, keysFile: s.keyFile}
	for i, slice := range s.slices {
		name := fmt.Sprintf("round-%d.jsonl", i)
		files[name] = bytes.Join(slice, []byte("\n"))
		n.slices = append(n.slices, filepath.Join(dir, name))
	}
	n.bad = filepath.Join(dir, "altered.jsonl")
	files[filepath.Base(n.bad)] = bytes.Join(tampered(s.slices[0][0], true), []byte("\n"))
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) start(ctx context.Context, dir string) (err error) {
	n.cmd = exec.CommandContext(ctx, "node", "verify.mjs", "schema.json", keysFile)
	n.cmd.Dir, n.cmd.Stderr = dir, os.Stderr
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	n.out = bufio.NewReader(out)
	return n.cmd.Start()
}

func (n *node) stop() {
	n.in.Close()
	n.cmd.Wait()
}

func (n *node) ask(what, file string) (string, error) {
	if _, err := fmt.Fprintf(n.in, "%s %s\n", what, file); err != nil {
		return "", err
	}
	answer, err := n.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("node: %w", err)
	}
	return strings.TrimSpace(answer), nil
}

func (n *node) time(round int) (float64, error) {
	answer, err := n.ask("time", n.slices[round%len(n.slices)])
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(answer, 64)
}

// agree returns an error unless node and this module reach the same verdicts for every receipt and
// for the altered receipts.
func (n *node) agree(s *sample, us contestant) error {
	for i, slice := range s.slices {
		if err := n.same(n.slices[i], slice, us); err != nil {
			return err
		}
	}
	return n.same(n.bad, tampered(s.slices[0][0], true), us)
}

func (n *node) same(file string, receipts [][]byte, us contestant) error {
	answer, err := n.ask("verdicts", file)
	if err != nil {
		return err
	}
	var want strings.Builder
	for _, text := range receipts {
		if us.verify(text) == nil {
			want.WriteByte('1')
		} else {
			want.WriteByte('0')
		}
	}
	if answer != want.String() {
		return fmt.Errorf("node and this module differ about %s: %s, %s", filepath.Base(file), answer, &want)
	}
	return nil
}
