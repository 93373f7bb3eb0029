// Package openapi generates descriptions of the routes of a harness for client programs.
package openapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// placeholder matches a placeholder for a path segment.
var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// Describe returns an OpenAPI 3.1 description of routes. It consists of base, such as the
// description from package serve, with a new title and the routes that are missing from base. The
// components in base must contain the version, the API key, and the errors. Routes that match any
// method are not added, because they belong to handlers that are served separately.
func Describe(base []byte, title string, routes []protocol.Route) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(base, &all); err != nil {
		return nil, err
	}
	all["info"] = object{"title": title, "version": protocol.Version}

	paths, ok := all["paths"].(map[string]any)
	if !ok {
		return nil, errors.New("openapi: expected paths in the description that routes are added to")
	}
	described := map[string]string{} // by shape

	// Two paths that differ only in the names of placeholders are treated as the same path.
	shape := func(path string) string { return placeholder.ReplaceAllString(path, "{}") }
	for path := range paths {
		described[shape(path)] = path
	}
	for i := range routes {
		method, path, found := strings.Cut(routes[i].Pattern, " ")
		if !found {
			continue
		}
		if described[shape(path)] == "" {
			described[shape(path)], paths[path] = path, map[string]any{}
		}
		path = described[shape(path)]
		operations, ok := paths[path].(map[string]any)
		if method = strings.ToLower(method); ok && operations[method] == nil {
			operations[method] = operation(&routes[i], path)
		}
	}
	return json.Marshal(all)
}

// An object is a part of a description.
type object = map[string]any

// operation describes a route at a path. The names in the path may differ from those in the route's
// pattern.
func operation(route *protocol.Route, path string) object {
	method, _, _ := strings.Cut(route.Pattern, " ")
	text := object{"type": "string", "minLength": 1}
	parameters := []object{}
	for _, name := range placeholder.FindAllString(path, -1) {
		parameters = append(parameters, object{"name": strings.Trim(name, "{}"), "in": "path", "required": true, "schema": text})
	}
	for _, name := range route.Params {
		parameters = append(parameters, object{"name": name, "in": "query", "schema": text})
	}
	if !route.Open && !route.AnyVersion {
		parameters = append(parameters, object{"$ref": "#/components/parameters/Version"})
	}

	o := object{"summary": route.Pattern, "responses": object{
		"2XX":     object{"description": "The resource of the route.", "content": object{mediaOf(path): object{}}},
		"default": object{"$ref": "#/components/responses/Error"},
	}}
	if method != http.MethodGet {
		if !route.Again {
			parameters = append(parameters, object{"name": protocol.IdempotencyHeader, "in": "header", "schema": object{"type": "string", "minLength": 1, "maxLength": 255}})
		}
		o["requestBody"] = object{"required": route.Body == protocol.BodyJSON, "content": object{protocol.MediaJSON: object{"schema": object{"type": "object"}}}}
	}
	if o["parameters"] = parameters; !route.Open {
		o["security"] = []object{{"apiKey": []string{string(route.Scope)}}, {}}
	}
	return o
}

// mediaOf returns the media type of the responses at a path.
func mediaOf(path string) string {
	switch path[strings.LastIndex(path, "/")+1:] {
	case "stream":
		return "text/event-stream"
	case "content":
		return "application/octet-stream"
	}
	return protocol.MediaJSON
}
