package memory_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// A client reads the receipts of a task from a server. Between two pages, processes may issue more
// receipts, and the server may be started again.
type client struct {
	*testing.T
	store  ledger.Reader
	server http.Handler

	last   []resource              // the last complete list
	list   []resource              // the part of the current list that was read
	cursor string                  // position of the next page; empty at the beginning of a list
	known  map[string]canon.Digest // receipts that were acknowledged when the current list was begun
}

// A resource is a receipt in an answer of the server.
type resource struct {
	Wire struct {
		Payload struct {
			ID    string `json:"receipt_id"`
			Chain struct {
				Hash string `json:"receipt_hash"`
			} `json:"chain"`
		} `json:"payload"`
	} `json:"wire"`
}

func (r resource) String() string { return r.Wire.Payload.ID + " " + r.Wire.Payload.Chain.Hash }

// names reports whether the resource has the given ID and hash.
func (r resource) names(id string, hash canon.Digest) bool {
	return r.Wire.Payload.ID == id && r.Wire.Payload.Chain.Hash == hash.String()
}

// allTask is the task of all receipts that the client reads.
const allTask = "task_all"

// start starts a server, which replaces the previous server.
func (c *client) start() {
	v, err := serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil)
	if err != nil {
		c.Fatal(err)
	}
	c.server, err = serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(c.store), Public: true})
	if err != nil {
		c.Fatal(err)
	}
}

func (c *client) get(path string, body any) {
	r := httptest.NewRequest(http.MethodGet, "http://receipts.test"+path, nil)
	r.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), body); w.Code != http.StatusOK || err != nil {
		c.Errorf("%s: status %d, %v: %.200s", path, w.Code, err, w.Body)
	}
}

// find verifies that the server has a receipt with the given hash.
func (c *client) find(id string, hash canon.Digest) {
	var found resource
	if c.get("/v1/receipts/"+id, &found); !found.names(id, hash) {
		c.Errorf("the server has %v, expected %s with the hash %v", found, id, hash)
	}
}

// read reads one page. It reports whether the list is complete. A complete list must begin with the
// last complete list, and must contain all receipts that had been acknowledged before its first
// page was read.
func (c *client) read(acknowledged map[string]canon.Digest) (complete bool) {
	if c.cursor == "" {
		c.list, c.known = nil, maps.Clone(acknowledged)
	}
	var page struct {
		Data []resource `json:"data"`
		Page struct {
			Next string `json:"next_cursor"`
		} `json:"page"`
	}
	path := "/v1/tasks/" + allTask + "/receipts?limit=2"
	if c.cursor != "" {
		path += "&cursor=" + c.cursor
	}
	c.get(path, &page)
	c.list, c.cursor = append(c.list, page.Data...), page.Page.Next
	if c.cursor != "" {
		return false
	}

	if len(c.list) < len(c.last) || !slices.Equal(c.list[:len(c.last)], c.last) {
		c.Errorf("the server lists %v, expected a continuation of %v", c.list, c.last)
	}
	for id, hash := range c.known {
		if !slices.ContainsFunc(c.list, func(r resource) bool { return r.names(id, hash) }) {
			c.Errorf("the server does not list %s with the hash %v, which was acknowledged: %v", id, hash, c.list)
		}
	}
	c.last = c.list
	return true
}
