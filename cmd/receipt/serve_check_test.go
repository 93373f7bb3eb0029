package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/server"
)

func TestCheckAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "loopback", "127.9.9.9:1": "loopback", "[::1]:0": "loopback", "localhost:80": "loopback", "[::ffff:127.0.0.1]:80": "loopback",
		"0.0.0.0:80": "open", ":80": "open", "[::]:80": "open", "10.0.0.1:65535": "open", "[fe80::1%eth0]:80": "open",
		"127.0.0.1": "", "127.0.0.1:": "", "127.0.0.1:65536": "", "127.0.0.1:-1": "", "127.0.0.1:http": "", "host.example:80": "",
		"LOCALHOST.example:80": "", "::1:80": "", "127.1:80": "", "2130706433:80": "", "": "", "http://127.0.0.1:80": "",
	} {
		loopback, err := cli.CheckAddr(addr)
		got := map[bool]string{true: "loopback", false: "open"}[loopback]
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, expected %q: %v", addr, got, want, err)
		}
	}
}

func TestParseAnchors(t *testing.T) {
	list, err := server.ParseAnchors([]byte(`{"b": "keys/b.json", "a": "/a.json"}`))
	if text := fmt.Sprint(list); err != nil || text != "[{b keys/b.json} {a /a.json}]" && text != "[{a /a.json} {b keys/b.json}]" {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"a":1}`, `{"a":""}`, `{"":"a"}`, `{"a":"-"}`, `{"a":"b","a":"c"}`, `{"a":"b"}x`, `{"` + strings.Repeat("a", 201) + `":"b"}`} {
		if list, err := server.ParseAnchors([]byte(bad)); err == nil || list != nil {
			t.Errorf("%.40s: %v", bad, list)
		}
	}
}
