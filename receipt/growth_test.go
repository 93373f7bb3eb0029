package receipt_test

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestCheckGrowth varies who signed two checkpoints, their trees and the proof.
func TestCheckGrowth(t *testing.T) {
	keys := logKeys()
	leaves := make([]merkle.Hash, 5)
	for i := range leaves {
		leaves[i] = merkle.LeafHash([]byte{byte(i)})
	}
	root := func(n int) merkle.Hash { return merkle.Root(leaves[:n]) }

	proof := func(from, to int) *tlog.Extension {
		x, err := tlog.ProveExtension(leaves[:to], uint64(from))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	short, long := proof(3, 5), proof(3, 5)
	short.Hashes = short.Hashes[1:]
	long.Hashes[0][0] ^= 1

	type head struct {
		how  string
		size int
		root merkle.Hash
	}
	good := func(how string, size int) head { return head{how, size, root(size)} }
	open := func(h head) *tlog.Signed {
		var logs []*tlog.Log
		for _, m := range keys {
			if m.Has(receipt.RoleCheckpoint) && m.Origin != "" {
				logs = append(logs, m.asLog(t, m.Origin).Log)
			}
		}
		s, err := tlog.OpenSigned(keys.checkpointOf(t, h.how, uint64(h.size), h.root), logs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	for name, c := range map[string]struct {
		from, to head
		proof    *tlog.Extension
		want     string // verdict, code, signers; later or an error
	}{
		"good":                {good("log1", 3), good("log1", 5), proof(3, 5), "verified  log1 log1"},
		"same tree":           {good("log1", 3), good("log1", 3), proof(3, 3), "verified  log1 log1"},
		"any time":            {good("log1next", 3), good("log1late", 5), proof(3, 5), "verified  log1next log1late"},
		"shrunk":              {good("log1", 5), good("log1", 3), proof(3, 5), "refuted truncated log1 log1"},
		"two trees":           {good("log1", 3), head{"log1", 3, root(4)}, proof(3, 3), "refuted merkle_root_mismatch log1 log1"},
		"two trees, unsigned": {good("stranger", 3), head{"stranger", 3, root(4)}, nil, "refuted merkle_root_mismatch - -"},
		"no proof":            {good("log1", 3), good("log1", 5), nil, "refuted proof_invalid log1 log1"},
		"from another":        {good("log1", 3), good("log1", 5), proof(2, 5), "refuted proof_invalid log1 log1"},
		"from another root":   {head{"log1", 3, root(4)}, good("log1", 5), proof(3, 5), "refuted proof_invalid log1 log1"},
		"to another":          {good("log1", 3), good("log1", 5), proof(3, 4), "refuted proof_invalid log1 log1 later"},
		"to another root":     {good("log1", 3), head{"log1", 5, root(4)}, proof(3, 5), "refuted proof_invalid log1 log1 later"},
		"short":               {good("log1", 3), good("log1", 5), short, "refuted proof_invalid log1 log1 *merkle.LengthError"},
		"false":               {good("log1", 3), good("log1", 5), long, "refuted proof_invalid log1 log1 *merkle.RootError"},
		"unsigned":            {good("stranger", 3), good("stranger", 5), proof(3, 5), "undecided unknown_key - -"},
		"stolen":              {good("log1stolen", 3), good("log1", 5), proof(3, 5), "refuted key_revoked - log1 by log1stolen"},
		"stolen later":        {good("log1", 3), good("log1stolen", 5), proof(3, 5), "refuted key_revoked log1 - by log1stolen later"},
		"stolen beside":       {good("log1stolen log1", 3), good("log1", 5), proof(3, 5), "verified  log1 log1"},
		"superseded":          {good("ownold", 3), good("ownold", 5), proof(3, 5), "verified  ownold ownold"},
		"false and stolen":    {good("log1stolen", 3), good("log1", 5), short, "refuted proof_invalid - log1 *merkle.LengthError"},
	} {
		g := receipt.CheckGrowth(keys, open(c.from), open(c.to), c.proof)
		got := fmt.Sprintf("%v %s", g.Verdict, g.Code)
		for _, key := range g.Signers {
			if key == nil {
				got += " -"
			} else {
				got += " " + key.ID
			}
		}
		if g.Revoked != nil {
			got += " by " + g.Revoked.ID
		}
		if g.Later {
			got += " later"
		}
		if g.Err != nil {
			got += fmt.Sprintf(" %T", g.Err)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
