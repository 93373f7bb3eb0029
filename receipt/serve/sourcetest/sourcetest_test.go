package sourcetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
	"github.com/receiptkit/receiptkit/receipt/serve/sourcetest"
)

// openFiles returns a source in which each file contains a receipt, because a file without receipts
// is rejected.
func openFiles(t *testing.T, receipts []*receipt.Sealed) serve.Source {
	t.Helper()
	content := map[string][]byte{}
	for i, r := range receipts {
		content[fmt.Sprintf("%03d.json", i)] = r.JSON()
	}
	_, sources := servetest.Files(t, content)
	x, err := files.Open(t.Context(), files.Options{}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFiles(t *testing.T) { sourcetest.Run(t, openFiles) }

// A broken source alters the calls and results of a correct source.
type broken struct {
	serve.Source
	get    func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error)
	byTask func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error)
}

func (b broken) Get(ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
	if b.get == nil {
		return b.Source.Get(ctx, id, reach)
	}
	return b.get(b.Source, ctx, id, reach)
}

func (b broken) ByTask(ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
	if b.byTask == nil {
		return b.Source.ByTask(ctx, q)
	}
	return b.byTask(b.Source, ctx, q)
}

// faults lists broken sources, each under the name of the subtest that must detect the fault. A comma
// and a further name may follow.
var faults = map[string]broken{
	"get": {get: func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
		stored, err := s.Get(ctx, id, reach)
		var out bytes.Buffer // formats the same receipt differently
		if err == nil && json.Indent(&out, stored.JSON, "", " ") == nil {
			stored.JSON = out.Bytes()
		}
		return stored, err
	}},
	"get, shared memory": {get: func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
		stored, err := s.Get(ctx, id, reach)
		if len(stored.JSON) < len(shared) { // all receipts use the same memory
			stored.JSON = shared[:copy(shared, stored.JSON)]
		}
		return stored, err
	}},
	"absent": {get: func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
		stored, err := s.Get(ctx, id, reach)
		if errors.Is(err, ledger.ErrNotFound) {
			id, _, _ = strings.Cut(id, "\x00")
			return s.Get(ctx, strings.TrimSpace(id), reach)
		}
		return stored, err
	}},
	"link": {get: func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
		stored, err := s.Get(ctx, id, reach)
		stored.Link = &receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak}
		return stored, err
	}},
	"reach": {get: func(s serve.Source, ctx context.Context, id string, _ protocol.Reach) (serve.Stored, error) {
		return s.Get(ctx, id, protocol.Everything())
	}},
	"tasks": {byTask: func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
		page, more, err := s.ByTask(ctx, q)
		slices.Reverse(page)
		return page, more, err
	}},
	"tasks, spaces": {byTask: func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
		page, more, err := s.ByTask(ctx, q)
		for i := range page {
			page[i].JSON = slices.Concat([]byte(" "), page[i].JSON)
		}
		return page, more, err
	}},
	"pages, full": {byTask: func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
		page, _, err := s.ByTask(ctx, q)
		return page, len(page) == q.Limit, err // although nothing follows the last page
	}},
	"pages": {byTask: func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
		page, _, err := s.ByTask(ctx, q)
		return page, false, err
	}},
	"cursor": {byTask: func(s serve.Source, ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
		page, more, err := s.ByTask(ctx, q)
		if errors.Is(err, ledger.ErrCursor) {
			return nil, false, nil
		}
		return page, more, err
	}},
	"canceled": {get: func(s serve.Source, ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
		return s.Get(context.WithoutCancel(ctx), id, reach)
	}},
}

var shared = make([]byte, 64<<10)

// brokenSource is an environment variable with the name of the broken source for TestBroken.
const brokenSource = "SOURCETEST_BROKEN"

// TestBroken verifies that each broken source fails the subtest for its fault. The suite runs in a
// separate process, as it would for the author of a source.
func TestBroken(t *testing.T) {
	if name, ok := os.LookupEnv(brokenSource); ok {
		sourcetest.Run(t, func(t *testing.T, receipts []*receipt.Sealed) serve.Source {
			b := faults[name]
			b.Source = openFiles(t, receipts)
			return b
		})
		return
	}

	for _, name := range slices.Sorted(maps.Keys(faults)) {
		subtest, _, _ := strings.Cut(name, ",")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$", "-test.v")
			suite.Env = append(os.Environ(), brokenSource+"="+name)
			out, err := suite.CombinedOutput()
			if err == nil {
				t.Fatalf("the source passes:\n%s", out)
			}
			if !regexp.MustCompile(`(?m)^    --- FAIL: TestBroken/` + subtest + ` `).Match(out) {
				t.Errorf("it does not fail %q:\n%s", subtest, out)
			}
		})
	}
}
