package serve

import (
	"strings"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// RouteTable returns the routes as docs/http.md lists them: method and path, whether
// the version header is needed, whether a key is.
func RouteTable() (lines []string) {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	for _, r := range new(Server).Routes() {
		name := r.Pattern
		if strings.HasPrefix(name, "/") {
			name = "any " + name
		}
		lines = append(lines, "`"+name+"` "+yes(!r.Open && !r.AnyVersion)+" "+yes(!r.Open))
	}
	return lines
}

// FindRoute returns the path of the route of a request, "" for none, and what it needs.
func FindRoute(method, path string) (pattern string, version, key bool, params []string) {
	for i, r := range new(Server).Routes() {
		of, pattern := Routes()[i][0], Routes()[i][1]
		if _, ok := protocol.MatchPath(pattern, path); ok && (of == "" || of == method) {
			return pattern, !r.Open && !r.AnyVersion, !r.Open, r.Params
		}
	}
	return "", false, false, nil
}

// Routes returns method and pattern of each route.
func Routes() (list [][2]string) {
	for _, r := range new(Server).Routes() {
		at := strings.Index(r.Pattern, "/")
		list = append(list, [2]string{strings.TrimSpace(r.Pattern[:at]), r.Pattern[at:]})
	}
	return list
}
