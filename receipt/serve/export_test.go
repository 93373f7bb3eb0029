package serve

import (
	"strings"
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
	for _, r := range routes() {
		name := strings.TrimSpace(r.method + " " + r.pattern)
		if r.method == "" {
			name = "any " + r.pattern
		}
		lines = append(lines, "`"+name+"` "+yes(r.version)+" "+yes(r.key))
	}
	return lines
}

// FindRoute returns the pattern of the route of a request, "" for none, and what it
// needs.
func FindRoute(method, path string) (pattern string, version, key bool, params []string) {
	m := (&router{routes()}).find(method, path)
	if m.route == nil {
		return "", false, false, nil
	}
	return m.route.pattern, m.route.version, m.route.key, m.route.params
}

// Routes returns method and pattern of each route.
func Routes() (list [][2]string) {
	for _, r := range routes() {
		list = append(list, [2]string{r.method, r.pattern})
	}
	return list
}
