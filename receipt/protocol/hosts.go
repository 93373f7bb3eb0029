package protocol

import (
	"net"
	"net/http"
	"strings"
)

// hosts are the names that a server may be reached by; without any, all are.
type hosts map[string]bool

func newHosts(names []string) hosts {
	h := hosts{}
	for _, name := range names {
		h[hostName(name)] = true
	}
	return h
}

// check refuses a request to another name. A web page can reach a local server only by a name
// of its own (DNS rebinding).
func (h hosts) check(r *http.Request) error {
	if len(h) > 0 && !h[hostName(r.Host)] {
		return &Error{Code: CodeForbidden, Param: "Host", Message: "this server is not reached by that name"}
	}
	return nil
}

// hostName returns a Host header without its port, in lowercase.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
