package main

import (
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/receiptkit/receiptkit/fixtures/keyservice"
)

// startAgent implements the script command
//
//	agent KEY…
//
// It starts an ssh-agent with keys from package keyservice. The agent runs until the script ends.
// For each key, a variable contains the value for --key: for example, $P256 for the key p256 and
// $OTHER for other-ed25519.
func startAgent(ts *testscript.TestScript, neg bool, names []string) {
	if neg || len(names) == 0 {
		ts.Fatalf("usage: agent key…")
	}
	a, err := keyservice.NewAgent(names...)
	ts.Check(err)
	for _, name := range names {
		if name == "rsa" {
			continue // this key differs in every run
		}
		fingerprint, err := keyservice.Fingerprint(name)
		ts.Check(err)
		variable, _, _ := strings.Cut(strings.ToUpper(name), "-")
		ts.Setenv(variable, "agent:"+fingerprint)
	}

	socket := filepath.Join(ts.Getenv("WORK"), "agent.sock")
	closed, err := keyservice.Serve(socket, a)
	ts.Check(err)
	ts.Defer(closed)
	ts.Setenv("SSH_AUTH_SOCK", socket)
}
