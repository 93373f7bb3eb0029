// Command agents is an example harness for the Harn Agents Protocol. It is a server that performs
// small tasks and issues a receipt for each of them. Package harness contains the implementation,
// so that tests can also use it.
//
//	go run -C harness ./cmd/agents
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

func main() {
	var o settings
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on this `ADDRESS` of loopback; port 0 is a free one")
	flag.StringVar(&o.data, "data", "", "store all data in this `DIR` (default: a temporary directory)")
	flag.StringVar(&o.clients, "api-keys", "", "accept the API keys in this `FILE` (default: one generated key, which is printed)")
	flag.StringVar(&o.private, "key", "../fixtures/keys/key_2026_04.private.json", "sign by the key in this `FILE`; that of the fixtures is not a secret")
	flag.StringVar(&o.public, "keys", "../fixtures/keys/trust.json", "trust the keys in this `FILE`")
	flag.StringVar(&o.issuer, "issuer", "harness_example_cloud", "the `ID` of the issuer of receipts")
	flag.StringVar(&o.card, "card", harness.RunnerCard, "the dialect of the agent card: agent_card or harn_agent_card")
	flag.StringVar(&o.provider, "provider", "", "use the model at this `URL` of a chat completions API (default: follow a script)")
	flag.StringVar(&o.model, "model", "", "the name of the model at the provider; the variable PROVIDER_API_KEY has the key")
	flag.Parse()
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	if stop(); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

// memoryGoal is the memory use above which garbage is collected more often. The type
// protocol.Limits contains the limits on data that the program keeps for clients.
const memoryGoal = 256 << 20

type settings struct {
	listen, data, clients, private, public, issuer, card, provider, model string
}

// run serves requests until ctx ends.
func run(ctx context.Context, o settings, out io.Writer) error {
	folder := o.data
	if folder == "" {
		temporary, err := os.MkdirTemp("", "agents-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		folder = temporary
	}
	options, shown, err := o.options(folder)
	if err != nil {
		return err
	}

	// The log is read before the listener accepts connections.
	h, err := harness.Open(options)
	if err != nil {
		return err
	}
	listener, err := listen(o.listen)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	defer listener.Close()
	server := serve.HTTPServer(h.Handler(), options.Log, 0)
	go server.Serve(listener)
	if shown != "" {
		fmt.Fprintln(out, "key    ", shown)
	}
	fmt.Fprintf(out, "card    %s\nserving http://%s until interrupted\n", options.Card, listener.Addr())
	<-ctx.Done()
	h.Drain()
	return errors.Join(shutdown(server), h.Close())
}

// options reads the files that the flags specify. The second result, shown, is the generated API
// key, or "" if no key was generated.
func (o *settings) options(folder string) (options harness.Options, shown string, err error) {
	private, err := read(o.private, keys.ParsePrivate)
	trust, invalid := read(o.public, keys.ParseSet)
	if err = errors.Join(err, invalid); err != nil {
		return options, "", err
	}
	options = harness.Options{
		Dir: folder, Issuer: o.issuer, Signer: keys.NewSigner(private, time.Now), Trust: trust, Card: o.card,
		Page: page.Handler(), Hosts: []string{"127.0.0.1", "::1", "localhost"}, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if o.provider != "" {
		options.Provider = &harness.Completions{URL: o.provider, Model: cmp.Or(o.model, "default"), Key: os.Getenv("PROVIDER_API_KEY")}
	}
	if o.clients != "" {
		options.Auth, err = read(o.clients, parseClients)
		return options, "", err
	}
	options.Auth, shown, err = demoKey()
	return options, shown, err
}

func parseClients(data []byte) (*protocol.APIKeys, error) {
	return protocol.ParseAPIKeys(data, harness.Scopes()...)
}

// demoKey generates an API key for this run.
func demoKey() (*protocol.APIKeys, string, error) {
	text, entry, err := protocol.NewAPIKey(rand.Reader, "demo", time.Now())
	if err != nil {
		return nil, "", err
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return nil, "", err
	}
	clients, err := parseClients(line)
	return clients, text, err
}

// read reads and parses a key file.
func read[T any](path string, parse func([]byte) (T, error)) (value T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return value, err
	}
	return parse(data)
}

// listen opens a port on the loopback interface, because this server is intended for tests and for
// readers of the code.
func listen(address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		return nil, fmt.Errorf("expected an address of loopback, such as 127.0.0.1:8080, found %q", address)
	}
	return net.ListenTCP("tcp", at)
}

// shutdown waits for requests in progress. It does not wait for clients that do not read their
// responses, because everything that was acknowledged is in the log.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
