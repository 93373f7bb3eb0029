// The rules of the architecture specify which packages each package may import, which features pure
// packages must not use, and the single package that may use each library.
package receiptkit_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/receiptkit/receiptkit"

// A room is an entry in the list of packages. It covers a package and all packages below it that
// have no separate entry.
type room struct {
	pure bool     // uses no clock, randomness, files, network, or mutable state
	may  []string // packages that may be imported; "receipt/" means all packages below receipt
	libs []string // imported packages outside the standard library
}

var core = []string{"internal/untrusted", "canon", "merkle", "merkle/tlog", "chain", "redact", "redact/secret", "schemas", "receipt"}

// rooms specifies which packages each package may import. Tests are exempt, except for import
// cycles. A package below receipt or cmd that is not listed has the rules of the entry "receipt/"
// or "cmd/".
var rooms = map[string]room{
	"canon":                 {pure: true, may: []string{"internal/untrusted"}, libs: []string{"github.com/gowebpki/jcs"}},
	"merkle":                {pure: true},
	"merkle/tlog":           {pure: true, may: []string{"merkle"}, libs: []string{"golang.org/x/mod/sumdb", "filippo.io/mldsa"}},
	"chain":                 {pure: true, may: []string{"canon"}},
	"redact":                {pure: true, may: []string{"canon", "redact/secret"}},
	"redact/secret":         {pure: true, may: []string{"redact/secret/internal/match"}},
	"redact/rulefile":       {may: []string{"canon", "redact", "redact/secret"}, libs: anyLib},
	"schemas":               {pure: true, may: []string{"internal/untrusted", "canon"}, libs: []string{"github.com/santhosh-tekuri/jsonschema"}},
	"receipt":               {pure: true, may: []string{"internal/untrusted", "canon", "merkle", "merkle/tlog", "chain", "redact", "redact/secret", "schemas"}},
	"receipt/keys":          {may: core, libs: anyLib}, // the signatures, and
	"receipt/archive":       {may: core, libs: anyLib}, // all other packages depend on these two
	"receipt/record":        {pure: true, may: append([]string{"receipt/internal/event", "receipt/record/internal/bridge"}, core...)},
	"receipt/record/source": {pure: true, may: append([]string{"receipt/internal/event", "receipt/record", "internal/kind"}, core...)}, // also covers its log readers
	"receipt/replay":        {pure: true, may: append([]string{"receipt/record", "receipt/internal/event"}, core...)},
	"receipt/bundle":        {pure: true, may: core},
	"receipt/protocol":      {may: []string{"internal/untrusted", "canon", "chain", "receipt", "internal/conn"}}, // also covers the packages below it, for a harness that issues no receipts
	"internal/aggregate":    {pure: true, may: core},
	"internal/attest":       {pure: true, may: core},
	"internal/conn":         {},
	"internal/headline":     {pure: true, may: append([]string{"receipt/stream"}, core...)},
	"internal/statement":    {pure: true, may: core},
	"internal/timestamp":    {pure: true, may: []string{"canon", "receipt"}, libs: []string{"github.com/notaryproject/tspclient-go"}},
	"internal/kind":         {pure: true},
	"internal/rows":         {may: append([]string{"receipt/stream"}, core...)},
	"internal/untrusted":    {pure: true},
	"internal/unpack":       {libs: []string{"github.com/klauspost/compress"}},
	"receipt/stream":        {may: append([]string{"receipt/stream/internal/input", "receipt/stream/internal/survey", "internal/join", "receipt/archive", "internal/foreign", "internal/kind", "internal/unpack"}, core...)},
	"receipt/ledger":        {may: core}, // uses no database: the stores are in packages below it
	"receipt/ledger/":       {may: append([]string{"receipt/", "internal/"}, core...), libs: anyLib},
	"receipt/":              {may: append([]string{"receipt/", "internal/"}, core...), libs: anyLib},
	"fixtures":              {may: append([]string{"receipt/"}, core...)},
	"cmd/":                  {may: append([]string{"receipt/", "internal/", "redact/rulefile"}, core...), libs: anyLib},
	"cmd/receipt":           {may: below(append(verbs, "root"), append(lower, "issue"), "redact/rulefile", "cmd/receipt/commands"), libs: anyLib},
	"cmd/receipt/commands":  {may: below([]string{"root", "cli"}, nil), libs: anyLib}, // imported by other modules
	inside + "root":         {may: below(verbs, append(lower, "issue"), "redact/rulefile"), libs: anyLib},
	inside + "cli":          {may: below(nil, nil), libs: anyLib},
	inside + "input":        {may: below([]string{"cli"}, nil), libs: anyLib},
	inside + "custody":      {may: below([]string{"cli", "input"}, nil), libs: anyLib},
	inside + "trust":        {may: below([]string{"cli", "input", "custody"}, nil), libs: anyLib},
	inside + "print":        {may: below([]string{"cli", "input", "trust"}, nil), libs: anyLib},
	inside + "verify":       {may: below(lower, nil), libs: anyLib},
	inside + "daily":        {may: below(lower, nil), libs: anyLib},
	inside + "issue":        {may: below(lower, []string{"daily"}, "redact/rulefile"), libs: anyLib},
	inside + "keyring":      {may: below(lower, nil), libs: anyLib},
	inside + "setup":        {may: below(lower, []string{"keyring"}), libs: anyLib},
	inside + "server":       {may: below(lower, nil), libs: anyLib},
	inside + "browse":       {may: below(lower, nil), libs: anyLib},
	inside + "conformance":  {may: below([]string{"cli"}, nil), libs: anyLib},
	inside + "logs":         {may: below(lower, []string{"issue"}), libs: anyLib},
	"harness/conformance":   {may: append([]string{"receipt/protocol", "receipt/replay", "receipt/archive"}, core...)}, // imported by tests of other packages, so it has few dependencies
	"harness/feed":          {may: []string{"canon", "receipt", "receipt/protocol"}},
	"harness/journal":       {may: []string{"canon", "chain", "receipt", "receipt/protocol", "harness/feed"}},
	"harness/openapi":       {may: []string{"receipt/protocol"}},
	"harness/internal/":     {may: append([]string{"receipt/", "harness/feed", "harness/journal", "harness/openapi"}, core...)},
	"harness/cmd/":          {may: append([]string{"receipt/", "harness/"}, core...)}, // uses no library either, except as a guest
	"examples/":             {may: append([]string{"receipt/"}, core...)},             // uses no library, because examples import only this module

	"internal/foreign":                 {pure: true, may: append([]string{"internal/foreign/", "internal/kind"}, core...)},
	"internal/foreign/":                {pure: true, may: append([]string{"internal/foreign/internal/form"}, core...)}, // one reader per format, without keys
	"internal/foreign/internal/form":   {pure: true, may: core},
	"receipt/stream/internal/input":    {pure: true, may: append([]string{"receipt/archive", "internal/kind", "internal/unpack"}, core...)}, // decides the kind of a document, but not how documents are related
	"receipt/stream/internal/survey":   {may: append([]string{"receipt/stream/internal/input", "internal/join"}, core...)},                  // handles neither the bytes of an input nor the summary
	"receipt/internal/event":           {pure: true, may: core},                                                                             // represents the contents of a log for packages that record or replay it
	"receipt/record/internal/bridge":   {pure: true, may: append([]string{"receipt/internal/event"}, core...)},
	"internal/join":                    {pure: true, may: core}, // decides which receipt a finding applies to, but not how receipts are sorted
	"receipt/serve/internal/servetest": {may: append([]string{"receipt/"}, core...)},
	"fixtures/keyservice":              {libs: anyLib},
}

// forTests lists the packages that only tests import.
var forTests = []string{"fixtures", "receipt/serve/internal/servetest", "fixtures/keyservice"}

var anyLib = []string{"*"}

// inside is the directory that contains the command's packages.
const inside = "cmd/receipt/internal/"

// These lists contain the packages that the commands depend on, from the lowest layer up, and the
// packages that implement the commands.
var (
	lower = []string{"cli", "input", "custody", "trust", "print"}
	verbs = []string{"verify", "issue", "logs", "keyring", "server", "browse", "conformance", "setup"}
)

// below returns the packages that a package of the command may import, which are the library
// packages and the given packages.
func below(rooms, more []string, others ...string) (list []string) {
	list = append(append([]string{"receipt/", "internal/"}, core...), others...)
	for _, name := range slices.Concat(rooms, more) {
		list = append(list, inside+name)
	}
	return list
}

// homes contains, for each library, the only package that may use the library.
var homes = map[string]string{
	"github.com/gowebpki/jcs":               "canon",
	"github.com/santhosh-tekuri/jsonschema": "schemas",
	"github.com/go-jose/go-jose":            "receipt/keys",
	"filippo.io/edwards25519":               "receipt/keys",
	"filippo.io/mldsa":                      "merkle/tlog",
	"github.com/spf13/cobra":                "cmd/receipt",
	"github.com/fxamacker/cbor":             "receipt/archive",
	"github.com/klauspost/compress":         "internal/unpack",
	"go.yaml.in/yaml":                       "redact/rulefile",
	"github.com/BurntSushi/toml":            "redact/rulefile",
	"github.com/VictoriaMetrics/metrics":    "receipt/serve",
	"modernc.org/sqlite":                    "receipt/ledger/sqlite",
	"filippo.io/age":                        inside + "custody",
	"github.com/notaryproject/tspclient-go": "internal/timestamp",
}

// guests lists packages that use a library in addition to its home.
var guests = map[string][]string{
	"github.com/spf13/cobra":     {"harness/cmd/agents-conformance"},
	"github.com/fxamacker/cbor":  {"internal/foreign/scitt"},
	"filippo.io/mldsa":           {"receipt/keys"},
	"github.com/BurntSushi/toml": {inside + "cli"},
}

// impure lists the packages that a pure package must not import. The entry "net/" means every
// package below net.
var impure = []string{
	"os", "os/", "net", "net/", "log", "log/", "math/rand", "math/rand/", "crypto/rand",
	"syscall", "unsafe", "plugin", "io/ioutil", "testing", "testing/",
}

var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local"}

func TestHouse(t *testing.T) {
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	got, packages := judge(files)
	for _, v := range got {
		t.Error(v)
	}
	for _, name := range []string{"canon", "chain", "schemas", "receipt", "receipt/keys", "cmd/receipt"} {
		if !slices.Contains(packages, name) {
			t.Errorf("found no package %s among %q", name, packages)
		}
	}
}

// TestLedgerLinksNoDatabase verifies that a store for another database does not link SQLite.
func TestLedgerLinksNoDatabase(t *testing.T) {
	deps := strings.Fields(run(t, "go", "list", "-deps", "./receipt/ledger"))
	if !slices.Contains(deps, module+"/receipt/ledger") {
		t.Fatalf("go list found %q", deps)
	}
	for _, dep := range deps {
		if dep == "database/sql" || strings.HasPrefix(dep, "modernc.org/") || strings.HasPrefix(dep, module+"/receipt/ledger/") {
			t.Errorf("receipt/ledger links %s", dep)
		}
	}
}

// TestCoreLinksNoJOSE verifies that a program that imports package receipt links neither JOSE nor a
// command-line library.
func TestCoreLinksNoJOSE(t *testing.T) {
	deps := strings.Fields(run(t, "go", "list", "-deps", "./receipt"))
	if len(deps) < 10 {
		t.Fatalf("go list found %q", deps)
	}
	for _, dep := range deps {
		for _, banned := range []string{"github.com/go-jose/", "github.com/spf13/", "github.com/fxamacker/", module + "/receipt/"} {
			if strings.HasPrefix(dep, banned) {
				t.Errorf("receipt links %s", dep)
			}
		}
	}
}

// TestOracleStaysOutside verifies that only the module of the oracle and the module of releases
// require the library with which attestations are compared.
func TestOracleStaysOutside(t *testing.T) {
	const foreign = "github.com/sigstore/"
	for file, want := range map[string]bool{"go.mod": false, "go.sum": false, "internal/attest/oracle/go.mod": true, "internal/release/go.mod": true} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), foreign) != want {
			t.Errorf("%s names %s: %t, want %t", file, foreign, !want, want)
		}
	}
}

func TestDependenciesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal([]byte(run(t, "go", "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	direct := 0
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct++
		if !strings.Contains(string(doc), "\n- `"+r.Path+"` ") {
			t.Errorf("docs/dependencies.md has no line for %s", r.Path)
		}
	}
	if direct == 0 {
		t.Error("go.mod requires nothing")
	}
}

// TestOwnModules verifies that users who import the library or install the command do not download
// the dependencies of programs in separate modules.
func TestOwnModules(t *testing.T) {
	graph := run(t, "go", "list", "-m", "all")
	for _, module := range []string{"gocloud.dev", "github.com/aws/", "cloud.google.com/", "github.com/Azure/", "github.com/apache/beam", "github.com/sigstore/", "github.com/goreleaser/"} {
		if strings.Contains("\n"+graph, "\n"+module) {
			t.Errorf("the graph of the main module has %s", module)
		}
	}
}

// TestConnections verifies that the library and the command open connections only to an ssh-agent,
// and that only the servers of the command accept connections.
func TestConnections(t *testing.T) {
	allowed := []string{inside + "browse net.ListenConfig", inside + "custody net.Dialer", inside + "server net.ListenConfig"}
	var found []string
	eachSource(t, func(_ *token.FileSet, name string, file *ast.File) {
		dir := path.Dir(name)
		top, _, _ := strings.Cut(dir, "/")
		if slices.Contains([]string{"examples", "fixtures", "harness"}, top) {
			return
		}
		for _, used := range connecting(file) {
			found = append(found, dir+" "+used)
		}
	})
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, allowed) {
		t.Errorf("found %q, expected %q", found, allowed)
	}
}

// TestConnectionsCaught verifies that code that opens a connection is detected, even if it imports
// the package under another name.
func TestConnectionsCaught(t *testing.T) {
	for text, want := range map[string]string{
		`import "net/http"; var _, _ = http.Get("")`:               "net/http.Get",
		`import web "net/http"; var _ = web.DefaultClient`:         "net/http.DefaultClient",
		`import "net/http"; var _ http.Client`:                     "net/http.Client",
		`import "net"; var _, _ = net.DialTimeout("tcp", "", 0)`:   "net.DialTimeout",
		`import "net"; var _, _ = net.LookupHost("")`:              "net.LookupHost",
		`import "net"; var _, _ = net.Listen("tcp", "")`:           "net.Listen",
		`import "crypto/tls"; var _, _ = tls.Dial("tcp", "", nil)`: "crypto/tls.Dial",
		`import "net/smtp"`:                     "net/smtp",
		`import . "net"`:                        "net",
		`import "net/http"; var _ http.Handler`: "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a; "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(connecting(file), " "); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}

// connecting returns the names in a file that open or accept connections, together with their
// packages.
func connecting(file *ast.File) (list []string) {
	connects := map[string][]string{
		"net":        {"Dial*", "Listen*", "Lookup*", "Resolve*", "DefaultResolver"},
		"net/http":   {"Client", "DefaultClient", "Transport", "DefaultTransport", "Get", "Head", "Post", "PostForm", "ListenAndServe*"},
		"crypto/tls": {"Dial*", "Listen", "Client"},
	}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		patterns, known := connects[imported]
		if local == "." && known || slices.Contains([]string{"net/rpc", "net/smtp", "net/textproto", "net/http/httputil"}, imported) {
			list = append(list, imported)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(*ast.SelectorExpr)
			if !ok || !selects(e, local, e.Sel.Name) {
				return true
			}
			for _, pattern := range patterns {
				if matches, _ := path.Match(pattern, e.Sel.Name); matches {
					list = append(list, imported+"."+e.Sel.Name)
				}
			}
			return true
		})
	}
	return list
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// inspect returns the violations in the modules at root and the packages of these modules.
func inspect(root string) (violations, packages []string, err error) {
	files, err := parse(root)
	if err != nil {
		return nil, nil, err
	}
	violations, packages = judge(files)
	if len(packages) == 0 {
		return nil, nil, fmt.Errorf("no packages in %s", root)
	}
	return violations, packages, nil
}

// sources returns the parsed files of this module and of harness, except tests and files that are
// never built. Callers must not modify the files.
var sources = sync.OnceValues(func() ([]sourceFile, error) { return parse(".") })

// parse parses the files of the module at root and of harness, except tests and files that are
// never built.
func parse(root string) (files []sourceFile, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skip(root, file, d.Name())
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if f := (sourceFile{path.Dir(filepath.ToSlash(rel)), filepath.ToSlash(rel), syntax, set}); !f.ignored() {
			files = append(files, f)
		}
		return nil
	})
	return files, err
}

// judge returns the violations in the given files and the packages to which the files belong.
func judge(files []sourceFile) (violations, packages []string) {
	documented := map[string]bool{}
	for _, f := range files {
		documented[f.dir] = documented[f.dir] || f.syntax.Doc.Text() != ""
		violations = append(violations, f.check()...)
	}
	for dir, ok := range documented {
		packages = append(packages, dir)
		if !ok {
			violations = append(violations, dir+": the package has no documentation")
		}
	}
	slices.Sort(violations)
	return violations, packages
}

// skip returns fs.SkipDir for each directory that the go command skips, except for the module
// harness, which is part of the architecture.
func skip(root, dir, name string) error {
	if dir == root || dir == filepath.Join(root, "harness") {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	return nil
}

type sourceFile struct {
	dir    string // "." for the root directory
	name   string
	syntax *ast.File
	set    *token.FileSet
}

// ignored reports whether the go command never builds the file.
func (f sourceFile) ignored() bool {
	for _, group := range f.syntax.Comments {
		if group.Pos() < f.syntax.Package && strings.HasPrefix(group.List[0].Text, "//go:build ignore") {
			return true
		}
	}
	return false
}

func (f sourceFile) check() []string {
	name, r, ok := roomOf(f.dir)
	if !ok {
		return []string{f.name + ": no room of the house; rooms in house_test.go has to say what it may import"}
	}
	var bad []string
	report := func(at ast.Node, format string, args ...any) {
		line := f.set.Position(at.Pos()).Line
		bad = append(bad, fmt.Sprintf("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...)))
	}
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if why := r.refuses(name, imported); why != "" {
			report(spec, "%s", why)
		}
		if imported == "C" {
			report(spec, "no room uses cgo")
		}
		if r.pure && slices.ContainsFunc(impure, func(p string) bool { return covers(p, imported) }) {
			report(spec, "%s is pure and imports %s", name, imported)
		}
		if r.pure && spec.Name != nil && spec.Name.Name == "." {
			report(spec, "%s is pure and hides where names of %s come from", name, imported)
		}
	}
	if r.pure {
		f.checkDeclarations(report)
		f.checkClock(report)
	}
	return bad
}

// roomOf returns the deepest listed directory that contains the given directory.
func roomOf(dir string) (string, room, bool) {
	for at := dir; at != "."; at = path.Dir(at) {
		if r, ok := rooms[at]; ok {
			return at, r, true
		}
		if r, ok := rooms[path.Dir(at)+"/"]; ok {
			return at, r, true
		}
	}
	return "", room{}, false
}

// covers reports whether a pattern matches an import path. A pattern is a path, or a prefix that
// ends in a slash.
func covers(pattern, imported string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(imported, pattern)
	}
	return imported == pattern
}

// refuses explains why a package must not import another package. It returns "" if the import is
// allowed.
func (r room) refuses(name, imported string) string {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		target, _, known := roomOf(own)
		switch {
		case target == name:
			return ""
		case slices.Contains(forTests, target):
			return name + " imports " + own + ", which is for tests"
		case known && slices.ContainsFunc(r.may, func(p string) bool { return covers(p, target) }):
			return ""
		}
		return name + " must not import " + own
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for lib, home := range homes {
		if within(imported, lib) {
			if name == home || strings.HasPrefix(name, home+"/internal/") || slices.Contains(guests[lib], name) {
				return ""
			}
			return name + " imports " + imported + ", which is for " + home
		}
	}
	if slices.ContainsFunc(r.libs, func(lib string) bool { return lib == "*" || within(imported, lib) }) {
		return ""
	}
	return name + " must not import " + imported
}

func within(imported, lib string) bool {
	return imported == lib || strings.HasPrefix(imported, lib+"/")
}

type reporter func(at ast.Node, format string, args ...any)

func (f sourceFile) checkDeclarations(report reporter) {
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				report(d, "a pure room has no init")
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				if spec := s.(*ast.ValueSpec); !embeds(d.Doc) && !embeds(spec.Doc) && !constant(spec) {
					report(spec, "a pure room has no package variable such as %s", spec.Names[0].Name)
				}
			}
		}
	}
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// constant reports whether a variable is effectively a constant. An interface check such as var _ I
// = T{} has no value. Code could assign to a sentinel error but never does, and Go has no other way
// to declare an error value. A function returned by sync.OnceValue or sync.OnceValues has no
// arguments and computes its result on the first call. Such a function differs only in speed from a
// function that computes its result on each call.
func constant(spec *ast.ValueSpec) bool {
	if once, ok := spec.Type.(*ast.StructType); ok && len(spec.Values) == 0 {
		return len(once.Fields.List) > 0 && selects(once.Fields.List[0].Type, "sync", "Once")
	}
	if len(spec.Values) != len(spec.Names) {
		return false
	}
	for i, name := range spec.Names {
		if name.Name == "_" && spec.Type != nil {
			continue
		}
		call, ok := spec.Values[i].(*ast.CallExpr)
		switch {
		case !ok:
			return false
		case selects(call.Fun, "errors", "New") && strings.HasPrefix(strings.ToLower(name.Name), "err"):
		case selects(call.Fun, "sync", "OnceValue"), selects(call.Fun, "sync", "OnceValues"):
		default:
			return false
		}
	}
	return true
}

func selects(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

func (f sourceFile) checkClock(report reporter) {
	local := ""
	for _, spec := range f.syntax.Imports {
		if spec.Path.Value == `"time"` {
			local = "time"
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	if local == "" {
		return
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		for _, name := range clock {
			if ok && selects(e, local, name) {
				report(n, "a pure room does not use time.%s", name)
			}
		}
		return true
	})
}

// TestHouseCatches verifies that violations of each rule are detected in a small tree.
func TestHouseCatches(t *testing.T) {
	const doc = "// Package x is documented.\npackage x\n"
	use := func(paths ...string) string {
		src := doc
		for _, p := range paths {
			src += fmt.Sprintf("import _ %q\n", p)
		}
		return src
	}
	tests := []struct{ file, src, want string }{
		{"canon/a.go", use("strings", "github.com/gowebpki/jcs", "embed"), ""},
		{"canon/a.go", use("github.com/gowebpki/jcs2"), "canon/a.go:3: canon must not import github.com/gowebpki/jcs2"},
		{"canon/a.go", use(module + "/chain"), "canon/a.go:3: canon must not import chain"},
		{"chain/a.go", use(module + "/canon"), ""},
		{"chain/a.go", use(module + "/canon/internal/table"), ""},
		{"chain/a.go", use("github.com/gowebpki/jcs"), "chain/a.go:3: chain imports github.com/gowebpki/jcs, which is for canon"},
		{"canon/a_test.go", use("os", module+"/fixtures", "github.com/go-jose/go-jose/v4"), "no packages"},
		{"merkle/tlog/a.go", use("golang.org/x/mod/sumdb/note", module+"/merkle"), ""},
		{"merkle/a.go", use("golang.org/x/mod/sumdb/note"), "merkle/a.go:3: merkle must not import golang.org/x/mod/sumdb/note"},
		{"merkle/a.go", use(module + "/canon"), "merkle/a.go:3: merkle must not import canon"},
		{"receipt/a.go", use(module+"/canon", module+"/schemas", module+"/merkle"), ""},
		{"receipt/a.go", use(module + "/receipt/keys"), "receipt/a.go:3: receipt must not import receipt/keys"},
		{"receipt/a.go", use("github.com/go-jose/go-jose/v4"), "receipt/a.go:3: receipt imports github.com/go-jose/go-jose/v4, which is for receipt/keys"},
		{"receipt/keys/a.go", use("github.com/go-jose/go-jose/v4/json", module+"/receipt", "os", "golang.org/x/crypto/ssh"), ""},
		{"receipt/keys/internal/a/a.go", use("filippo.io/edwards25519"), ""},
		{"merkle/a.go", use("filippo.io/edwards25519"), "merkle/a.go:3: merkle imports filippo.io/edwards25519, which is for receipt/keys"},
		{"receipt/keys/a.go", use(module + "/receipt/stream"), "receipt/keys/a.go:3: receipt/keys must not import receipt/stream"},
		{"receipt/a.go", use(module + "/cmd/receipt"), "receipt/a.go:3: receipt must not import cmd/receipt"},
		{"redact/a.go", use(module + "/chain"), "redact/a.go:3: redact must not import chain"},
		{"redact/a.go", use(module + "/redact/rulefile"), "redact/a.go:3: redact must not import redact/rulefile"},
		{"redact/a.go", use(module + "/redact/secret"), ""},
		{"redact/a.go", use(module + "/fixtures/secrets"), "redact/a.go:3: redact imports fixtures/secrets, which is for tests"},
		{"redact/secret/a.go", use(module + "/redact"), "redact/secret/a.go:3: redact/secret must not import redact"},
		{"redact/secret/a.go", use(module + "/canon"), "redact/secret/a.go:3: redact/secret must not import canon"},
		{"redact/secret/a.go", use("os"), "redact/secret/a.go:3: redact/secret is pure and imports os"},
		{"schemas/a.go", use("github.com/santhosh-tekuri/jsonschema/v6"), ""},
		{"receipt/a.go", use("github.com/santhosh-tekuri/jsonschema/v6"), "receipt/a.go:3: receipt imports github.com/santhosh-tekuri/jsonschema/v6, which is for schemas"},
		{"receipt/serve/a.go", use("github.com/spf13/cobra"), "receipt/serve/a.go:3: receipt/serve imports github.com/spf13/cobra, which is for cmd/receipt"},
		{"receipt/serve/files/a.go", use(module+"/receipt/serve", module+"/receipt/protocol"), ""},
		{"receipt/serve/a.go", use(module + "/receipt/serve/internal/servetest"), "receipt/serve/a.go:3: receipt/serve imports receipt/serve/internal/servetest, which is for tests"},
		{"receipt/serve/a.go", use("C"), "receipt/serve/a.go:3: no room uses cgo"},
		{"chain/a.go", use("C"), "chain/a.go:3: no room uses cgo"},
		{"receipt/stream/a.go", use(module+"/receipt/archive", module+"/internal/unpack"), ""},
		{"receipt/stream/a.go", use(module + "/receipt/stream/internal/input"), ""},
		{"receipt/stream/internal/input/a.go", use(module + "/internal/join"), "receipt/stream/internal/input/a.go:3: receipt/stream/internal/input must not import internal/join"},
		{"receipt/stream/internal/survey/a.go", use(module + "/internal/unpack"), "receipt/stream/internal/survey/a.go:3: receipt/stream/internal/survey must not import internal/unpack"},
		{"internal/unpack/a.go", use("github.com/klauspost/compress/zstd"), ""},
		{"receipt/stream/a.go", use(module + "/cmd/receipt"), "receipt/stream/a.go:3: receipt/stream must not import cmd/receipt"},
		{"receipt/serve/a.go", use("github.com/fxamacker/cbor/v2"), "receipt/serve/a.go:3: receipt/serve imports github.com/fxamacker/cbor/v2, which is for receipt/archive"},
		{"cmd/receipt/a.go", use("github.com/spf13/cobra", module+"/receipt/serve", module+"/redact/rulefile"), ""},
		{"harness/cmd/agents-conformance/a.go", use("github.com/spf13/cobra", module+"/harness/conformance"), ""},
		{"harness/conformance/a.go", use(module + "/harness/internal/harness"), "harness/conformance/a.go:3: harness/conformance must not import harness/internal/harness"},
		{"receipt/protocol/a.go", use(module + "/harness/journal"), "receipt/protocol/a.go:3: receipt/protocol must not import harness/journal"},
		{"cmd/receipt-wasm/a.go", use("github.com/spf13/cobra"), "cmd/receipt-wasm/a.go:3: cmd/receipt-wasm imports github.com/spf13/cobra, which is for cmd/receipt"},
		{"cmd/receipt/a.go", use(module + "/fixtures"), "cmd/receipt/a.go:3: cmd/receipt imports fixtures, which is for tests"},
		{"canon/a.go", use(module + "/fixtures/vectors"), "canon/a.go:3: canon imports fixtures/vectors, which is for tests"},
		{"fixtures/a.go", use(module+"/receipt/keys", "crypto/rand"), ""},
		{"util/a.go", doc, "util/a.go: no room of the house; rooms in house_test.go has to say what it may import"},
		{"chain/a.go", "package x\n", "chain: the package has no documentation"},
		{"chain/a.go", use("os"), "chain/a.go:3: chain is pure and imports os"},
		{"schemas/a.go", use("net/http"), "schemas/a.go:3: schemas is pure and imports net/http"},
		{"redact/a.go", use("math/rand/v2"), "redact/a.go:3: redact is pure and imports math/rand/v2"},
		{"redact/a.go", use("crypto/rand"), "redact/a.go:3: redact is pure and imports crypto/rand"},
		{"redact/rulefile/a.go", use("os", "go.yaml.in/yaml/v3", module+"/redact"), ""},
		{"receipt/a.go", use("log/slog"), "receipt/a.go:3: receipt is pure and imports log/slog"},
		{"canon/a.go", use("unsafe"), "canon/a.go:3: canon is pure and imports unsafe"},
		{"canon/internal/a/a.go", use("os/exec"), "canon/internal/a/a.go:3: canon is pure and imports os/exec"},
		{"canon/a.go", doc + "import . \"strings\"\n", "canon/a.go:3: canon is pure and hides where names of strings come from"},
		{"receipt/a.go", doc + "import clock \"time\"\nconst one = 1\nfunc f() { g(clock.Now) }\n", "receipt/a.go:5: a pure room does not use time.Now"},
		{"receipt/a.go", doc + "import \"time\"\nfunc f() { time.Sleep(time.Second) }\n", "receipt/a.go:4: a pure room does not use time.Sleep"},
		{"receipt/a.go", doc + "import \"time\"\nfunc f(t time.Time) { t.UTC() }\n", ""},
		{"canon/a.go", doc + "func init() {}\n", "canon/a.go:3: a pure room has no init"},
		{"canon/a.go", doc + "var cache map[string]int\n", "canon/a.go:3: a pure room has no package variable such as cache"},
		{"canon/a.go", doc + "var (\n\ta, b = 1, 2\n)\n", "canon/a.go:4: a pure room has no package variable such as a"},
		{"canon/a.go", doc + "var ErrX = errors.New(\"x\")\nvar _ I = T{}\n\n//go:embed x\nvar text string\n", ""},
		{"canon/a.go", doc + "var (\n\tErrX, ErrY = errors.New(\"x\"), errors.New(\"y\")\n\t_ I = (*T)(nil)\n)\n", ""},
		{"canon/a.go", doc + "var table = sync.OnceValue(fill)\n", ""},
		{"canon/a.go", doc + "var tables = sync.OnceValues(func() (a, b int) { return 1, 2 })\n", ""},
		{"canon/a.go", doc + "var table = sync.OnceValue(fill)()\n", "canon/a.go:3: a pure room has no package variable such as table"},
		{"canon/a.go", doc + "var table struct {\n\tonce sync.Once\n\tof []int\n}\n", ""},
		{"canon/a.go", doc + "var table struct {\n\tof []int\n}\n", "canon/a.go:3: a pure room has no package variable such as table"},
		{"canon/a.go", doc + "var reset = sync.OnceFunc(fill)\n", "canon/a.go:3: a pure room has no package variable such as reset"},
		{"canon/a.go", doc + "var _ = register()\n", "canon/a.go:3: a pure room has no package variable such as _"},
		{"canon/a.go", doc + "var ErrX = fmt.Errorf(\"x\")\n", "canon/a.go:3: a pure room has no package variable such as ErrX"},
		{"canon/a.go", doc + "var current = errors.New(\"x\")\n", "canon/a.go:3: a pure room has no package variable such as current"},
		{"canon/a.go", doc + "var ErrX error\n", "canon/a.go:3: a pure room has no package variable such as ErrX"},
		{"canon/gen.go", "//go:build ignore\n\npackage main\n\nimport _ \"os\"\n", "no packages"},
		{"canon/testdata/a.go", "package broken {", "no packages"},
		{"bench/sub/a.go", "package x\n", "no packages"},
	}
	for _, test := range tests {
		root := t.TempDir()
		write(t, root, test.file, test.src)
		if first, _, _ := strings.Cut(test.file, "/"); first == "bench" || first == "harness" {
			write(t, root, first+"/go.mod", "module "+first+"\n")
		}
		got, _, err := inspect(root)
		if err != nil {
			got = append(got, err.Error())
		}
		text := strings.Join(got, "\n")
		if test.want == "no packages" {
			text, _, _ = strings.Cut(text, " in ")
		}
		if text != test.want {
			t.Errorf("%s:\n%s\ngot  %s\nwant %s", test.file, test.src, text, test.want)
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachSource calls do for each file that sources returns.
func eachSource(t *testing.T, do func(set *token.FileSet, name string, file *ast.File)) {
	t.Helper()
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		do(f.set, f.name, f.syntax)
	}
}
