package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/server"
)

// TestDeployedCommands verifies that the commands in the files for systemd, Docker, and Kubernetes
// use existing flags that do not conflict.
func TestDeployedCommands(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text := readFile(t, filepath.Join("../../docs/deploy", name))
		return string(text)
	}
	match := func(pattern, text string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("nothing matches %s", pattern)
		}
		return m[1]
	}
	var docker []string
	if err := json.Unmarshal([]byte(match(`(?m)^CMD (\[.*\])$`, read("Dockerfile"))), &docker); err != nil {
		t.Fatal(err)
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Args []string } }
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(read("kubernetes.yaml")))
	if err := decoder.Decode(&deployment); err != nil {
		t.Fatal(err)
	}
	documents := 1
	for other := any(nil); decoder.Decode(&other) == nil; documents++ {
	}
	if documents != 3 || len(deployment.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%d documents, %+v", documents, deployment)
	}
	for name, args := range map[string][]string{
		"systemd":    strings.Fields(match(`(?m)^ExecStart=/usr/local/bin/receipt (.*)$`, read("receipt.service"))),
		"Docker":     docker,
		"Kubernetes": deployment.Spec.Template.Spec.Containers[0].Args,
	} {
		if len(args) == 0 || args[0] != "serve" {
			t.Errorf("%s starts %q", name, args)
			continue
		}
		// The command fails here only because the files are missing.
		code := run(t.Context(), args, testEnv(io.Discard, io.Discard))
		cmd := server.New(testEnv(io.Discard, io.Discard))
		err := cmd.ParseFlags(args[1:])
		if keys := cmd.Flag("keys").Value.String(); err != nil || code != cli.ExitUsage || !strings.HasPrefix(keys, "/etc/receipt/") {
			t.Errorf("%s: %v, exit %d, keys %q", name, err, code, keys)
		}
		for _, flag := range []string{"addr", "api-keys", "receipts"} {
			if !cmd.Flag(flag).Changed {
				t.Errorf("%s: no --%s", name, flag)
			}
		}
	}
}

// TestServeDocument verifies that the requests in docs/serve.md work with a server that was started
// as that page describes.
func TestServeDocument(t *testing.T) {
	needs(t, "curl", "sh")
	text := readFile(t, "../../docs/serve.md")
	dir := serveDir(t)
	make := exec.Command("receipt", "serve", "--api-keys", "api-keys.jsonl", "--new-api-key", "ci")
	make.Dir = dir
	key, err := make.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", "keys.json", "--receipts", "receipts.jsonl")
	locked := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", "keys.json", "--api-keys", "api-keys.jsonl")
	typed := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		typed++
		url := r.url
		if strings.Contains(line, "$KEY") {
			url = locked.url
		}
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "http://127.0.0.1:8080", url))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "KEY="+strings.TrimSpace(string(key)), "no_proxy=*")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "receipt_01K0TASK") {
			t.Errorf("%s%v\n%.500s", line, err, out)
		}
	}
	if typed < 6 {
		t.Errorf("found %d commands, expected more", typed)
	}
	for _, s := range []*running{r, locked} {
		s.signal(syscall.SIGTERM)
		if code := s.exits(); code != 0 {
			t.Errorf("exit %d", code)
		}
	}
}
