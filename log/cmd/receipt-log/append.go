package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/log/client"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type appendOptions struct {
	log, policy, proofs, token string
	jobs                       int
	wait                       time.Duration
}

func newAppend(t *terminal) *cobra.Command {
	var o appendOptions
	cmd := &cobra.Command{
		Use:   "append PATH… --log URL --policy FILE --proofs DIR",
		Short: "add receipts to a log, and store their proofs",
		Long: `Add the hashes of receipts to a log. A PATH is a file of receipts, a directory of
such files, or a ledger of receipt ledger. Only hashes are sent.

A receipt is added only if its content matches its hash. Its proof is checked
against --policy, and then stored in --proofs as HASH.tlog-proof, for
receipt verify --proof. A receipt whose proof is stored is not sent again, so a
run can be repeated until all proofs are stored. The log returns a proof when
its witness quorum has cosigned, and --wait limits the time for each receipt.

Each line of the output has the index in the log, the receipt hash, and the
address of the receipt.

Exit codes:
  0  every receipt is in the log, and its proof is stored
  1  a receipt or a proof is invalid
  2  an input could not be read, or the log did not answer in time
  3  a receipt or a proof lacks evidence`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), t, args) },
	}

	f := cmd.Flags()
	f.StringVar(&o.log, "log", "", "address of the log (`URL`)")
	f.StringVar(&o.policy, "policy", "", "log, witnesses, and quorum, a tlog-policy (`FILE`)")
	f.StringVar(&o.proofs, "proofs", "", "directory for the proofs, created if necessary (`DIR`)")
	f.StringVar(&o.token, "token", "", "token of the log (`FILE`)")
	f.IntVar(&o.jobs, "jobs", 64, "number of receipts that wait for the log at the same time (`N`)")
	f.DurationVar(&o.wait, "wait", 2*time.Minute, "time after which a receipt is given up (`DURATION`)")
	return cmd
}

// An appender adds receipts to a log in one run of the command.
type appender struct {
	*terminal
	log  *client.Log
	dir  durable.Names
	wait time.Duration

	mu                         sync.Mutex
	added                      int
	refuted, unread, undecided int
	pending                    bool // whether the log may contain a hash without a stored proof
}

func (o *appendOptions) run(ctx context.Context, t *terminal, paths []string) error {
	if o.log == "" || o.proofs == "" || o.jobs < 1 {
		return errors.New("missing --log URL or --proofs DIR, or --jobs is below 1")
	}
	if u, err := url.Parse(o.log); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("invalid --log %q: must be an address that begins with http:// or https://", o.log)
	}
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	token, err := readToken(o.token)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.proofs, 0o755); err != nil {
		return err
	}

	a := &appender{terminal: t, dir: durable.Names(o.proofs), wait: o.wait}
	a.log = &client.Log{URL: o.log, Token: token, Policy: policy}
	a.log.HTTP.Timeout = time.Minute
	if err := a.receipts(ctx, paths, o.jobs); err != nil {
		return err
	}
	t.note("receipts in the log: %d; not added: %d invalid, %d not read or not answered, %d undecided", a.added, a.refuted, a.unread, a.undecided)
	if a.pending {
		t.note("hint: the log may already contain the hashes without proofs, and its witness quorum may not have cosigned yet: repeat append to get the proofs")
	}
	return a.result()
}

// result returns the exit code of the run. Only one branch returns success.
func (a *appender) result() error {
	switch {
	case a.refuted > 0:
		return exitCode(exitRefuted)
	case a.unread > 0:
		return exitCode(exitUsage)
	case a.undecided > 0:
		return exitCode(exitUndecided)
	case a.added > 0:
		return nil
	}
	return errors.New("found no receipt")
}

// receipts adds the receipts in all paths, several at the same time.
func (a *appender) receipts(ctx context.Context, paths []string, jobs int) error {
	type job struct {
		hash    canon.Digest
		address string
	}
	work := make(chan job)
	sent := map[canon.Digest]bool{} // copies count once
	var group sync.WaitGroup
	for range jobs {
		group.Go(func() {
			for j := range work {
				a.add(ctx, j.hash, j.address)
			}
		})
	}

	err := a.each(ctx, paths, func(rep *receipt.Report) {
		switch {
		case rep.Verdict == receipt.Verified && sent[rep.ReceiptHash]:
		case rep.Verdict == receipt.Verified:
			sent[rep.ReceiptHash] = true
			work <- job{rep.ReceiptHash, rep.Address()}
		case rep.Verdict == receipt.Refuted:
			a.fail(&a.refuted, rep.Address(), errors.New(string(rep.Finding().Code)))
		default:
			a.fail(&a.undecided, rep.Address(), errors.New(string(rep.Finding().Code)))
		}
	})
	close(work)
	group.Wait()
	return err
}

func (a *appender) fail(count *int, address string, err error) {
	a.mu.Lock()
	*count++
	a.mu.Unlock()
	a.note("%s: not added: %v", address, err)
}

// unproven reports a receipt whose hash may be in the log although the log returned no proof.
func (a *appender) unproven(address, what string, err error) {
	a.mu.Lock()
	a.unread++
	a.pending = true
	a.mu.Unlock()
	a.note("%s: %s: %v", address, what, err)
}

// add adds one receipt. A receipt counts as added only after the proof is durable.
func (a *appender) add(ctx context.Context, hash canon.Digest, address string) {
	name := strings.Replace(hash.String(), ":", "-", 1) + ".tlog-proof"
	if index, ok := a.stored(name, hash); ok {
		a.done(index, hash, address)
		return
	}

	ctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	proof, index, err := a.log.Add(ctx, hash)
	var invalid *client.ProofError
	var timeout *client.TimeoutError
	var status *client.StatusError
	switch {
	case errors.Is(err, tlog.ErrUnmet):
		a.fail(&a.undecided, address, err)
	case errors.As(err, &invalid):
		a.fail(&a.refuted, address, err)
	case errors.As(err, &timeout):
		a.unproven(address, fmt.Sprintf("no proof after %v", a.wait), err)
	case errors.As(err, &status) && status.Status >= http.StatusInternalServerError:
		a.unproven(address, "no proof", err)
	case err != nil:
		a.fail(&a.unread, address, err)
	default:
		if err := durable.Replace(a.dir, name, proof); err != nil {
			a.fail(&a.unread, address, err)
			return
		}
		a.done(index, hash, address)
	}
}

func (a *appender) done(index uint64, hash canon.Digest, address string) {
	a.mu.Lock()
	a.added++
	a.mu.Unlock()
	a.print("%d %v %s", index, hash, address)
}

// stored returns the index in a proof that an earlier run stored and that meets the policy.
func (a *appender) stored(name string, hash canon.Digest) (uint64, bool) {
	text, err := a.dir.Read(name)
	if err != nil {
		return 0, false
	}
	proof, err := tlog.ParseProof(text)
	if err != nil {
		return 0, false
	}
	if _, err := a.log.Policy.CheckProof(proof, hash[:]); err != nil {
		return 0, false
	}
	return proof.Index, true
}

// each verifies the integrity of the receipts in all paths. No keys are needed, because the log
// states that a receipt existed but not who issued it.
func (a *appender) each(ctx context.Context, paths []string, do func(*receipt.Report)) error {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		return err
	}
	var sources []stream.Source
	for _, path := range paths {
		if isLedger(path) {
			if err := a.ledger(ctx, v, path, do); err != nil {
				return err
			}
			continue
		}
		found, err := filesOf(path)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	if len(sources) == 0 {
		return nil
	}
	run := stream.VerifyFiles(ctx, v, sources, stream.Options{Partial: true, Unordered: true, TempDir: os.TempDir()})
	return a.finish(run, do)
}

// finish passes each report of a run to do, and records the inputs that could not be read.
func (a *appender) finish(run *stream.Run, do func(*receipt.Report)) error {
	for rep := range run.Reports() {
		do(rep)
	}
	s, err := run.Summary()
	if err != nil {
		return err
	}
	for _, n := range s.Inputs.Unreadable {
		a.fail(&a.unread, n.Source, errors.New(n.Detail))
	}
	return nil
}

func (a *appender) ledger(ctx context.Context, v *receipt.Verifier, path string, do func(*receipt.Report)) error {
	l, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	defer l.Close()
	items := func(yield func(stream.Item, error) bool) {
		for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
			if !yield(stream.Item{Source: path, Index: int(e.Sequence), JSON: e.JSON}, err) {
				return
			}
		}
	}
	return a.finish(stream.VerifySeq(ctx, v, items, stream.Options{Partial: true}), do)
}

// isLedger reports whether a file begins like a SQLite database.
func isLedger(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3\x00"
}

// filesOf returns the file at a path, or the receipt files in a directory and its subdirectories.
// Symbolic links in a directory are skipped.
func filesOf(path string) (sources []stream.Source, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []stream.Source{fileSource(path, false)}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && stream.IsInput(name) {
			sources = append(sources, fileSource(name, true))
		}
		return err
	})
	return sources, err
}

func fileSource(path string, found bool) stream.Source {
	return stream.Source{Name: path, Found: found, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}
