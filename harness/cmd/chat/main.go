// Command chat is an example of a chat that uses the receipt toolkit. Each turn in a conversation
// has a receipt, even if the turn failed. A turn that waited for a person has a single receipt for
// all of its parts.
//
//	go run -C harness ./cmd/chat
//
// It reads messages from standard input, one per line, and repeats them. A message that begins with
// "send" waits until the line /approve or /deny arrives, even if other messages arrive first. If
// several messages are waiting, the line applies to the last of them.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

func main() {
	private := flag.String("key", "../fixtures/keys/key_2026_04.private.json", "sign by the key in this `FILE`; that of the fixtures is not a secret")
	flag.Parse()
	if err := run(context.Background(), *private, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

// run conducts one conversation. It stores the receipts in a directory that is removed at the end.
func run(ctx context.Context, private string, in io.Reader, out io.Writer) error {
	folder, err := os.MkdirTemp("", "chat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	data, err := os.ReadFile(private)
	if err != nil {
		return err
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		return err
	}
	store, err := sqlite.Create(ctx, filepath.Join(folder, "ledger.db"))
	if err != nil {
		return err
	}
	defer store.Close()

	issuer := &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now)}
	defer issuer.Close(context.Background()) // closed before the store
	c := newChat([]node{ask, answer}, new(memory), issuer)
	session, waiting := "conv_"+rand.Text(), []string{""} // signals for which turns wait; the first element, "", means none
	c.subscribe(session, func(o outcome) { show(out, o) })
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "/approve", "/deny":
			payload := fmt.Appendf(nil, `{"approved":%t}`, line == "/approve")
			last := len(waiting) - 1
			if err := c.signal(ctx, waiting[last], "user_robin", payload); err != nil {
				fmt.Fprintln(out, err)
			}
			waiting = waiting[:max(last, 1)]
		default:
			o, err := c.send(ctx, session, text("user", line))
			if err != nil {
				return err
			}
			if o.signal != "" {
				waiting = append(waiting, o.signal)
			}
			show(out, o)
		}
	}
	return lines.Err()
}

// show prints the outcome of a turn.
func show(out io.Writer, o outcome) {
	for _, m := range append(o.messages, o.reply) {
		var said struct{ Content string }
		if json.Unmarshal(m, &said) == nil {
			fmt.Fprintln(out, said.Content)
		}
	}
	if o.receipt != nil {
		fmt.Fprintln(out, "receipt", o.receipt.ID(), o.kind)
	}
}

// ask waits for a person's decision if a message is to be sent.
func ask(_ context.Context, s *state) ([]message, error) {
	var last struct{ Content string }
	json.Unmarshal(s.messages[len(s.messages)-1], &last)
	if !strings.HasPrefix(last.Content, "send") {
		return nil, nil
	}
	return []message{text("assistant", "Shall I? /approve or /deny")}, &suspension{"approval_" + rand.Text(), json.RawMessage(`{"action":"send"}`)}
}

// answer repeats the message.
func answer(_ context.Context, s *state) ([]message, error) {
	if s.decision != "" && s.decision != "approved" {
		return []message{text("assistant", "Not sent.")}, nil
	}
	var last struct{ Content string }
	if err := json.Unmarshal(s.messages[s.inbound], &last); err != nil {
		return nil, &failure{category: "provider_invalid_request", err: errors.New("expected a text")}
	}
	return []message{text("assistant", last.Content)}, nil
}
