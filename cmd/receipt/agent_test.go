package main

import (
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/receiptkit/receiptkit/fixtures/keyservice"
)

// startAgent is the command of scripts
//
//	agent KEY…
//
// that starts an ssh-agent with keys of package keyservice, which is there until the
// script ends. Each key's name for --key is in a variable: of the key p256 in $P256, of
// other-ed25519 in $OTHER.
func startAgent(ts *testscript.TestScript, neg bool, names []string) {
	if neg || len(names) == 0 {
		ts.Fatalf("usage: agent key…")
	}
	a, err := keyservice.NewAgent(names...)
	ts.Check(err)
	for _, name := range names {
		if name == "rsa" {
			continue // which is another one each time
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
