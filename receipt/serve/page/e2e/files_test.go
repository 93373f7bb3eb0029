package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// buildPage runs the page generator, and writes its output to a temporary directory.
func buildPage(t *testing.T) (dir string) {
	t.Helper()
	if dir = os.Getenv("PAGE_DIST"); dir != "" {
		return dir
	}
	dir = t.TempDir()
	cmd := exec.Command("go", "run", "-C", "generate", ".", "-o", dir)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// fixture returns the path of a fixture.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeFile writes a file to a separate directory.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeStream writes a signed stream of receipts that covers several weeks. One receipt was changed
// after it was signed, and the signature of another was removed.
func writeStream(t *testing.T, count int) string {
	t.Helper()
	signer := keys.NewSigner(privateKey(t, "key_2026_04"), func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) })
	var out bytes.Buffer
	var head chain.Head
	for i := range count {
		sealed, err := receipt.Seal(draft(i), head)
		if err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		if i != count/2 {
			if sealed, err = sealed.Sign(context.Background(), signer); err != nil {
				t.Fatal(err)
			}
		}
		text := string(sealed.JSON())
		if i == count/3 {
			text = strings.Replace(text, `"currency":"USD"`, `"currency":"EUR"`, 1)
		}
		fmt.Fprintln(&out, text)
	}
	path := filepath.Join(t.TempDir(), "stream.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// privateKey returns a private key from the fixtures.
func privateKey(t *testing.T, name string) *keys.PrivateKey {
	t.Helper()
	data, err := fixtures.Read("keys/" + name + ".private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func draft(i int) *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 17 * time.Hour))
	sent := int64(1000 * (i%5 + 1))
	return &receipt.Draft{
		ReceiptID:      fmt.Sprintf("receipt_%04d", i),
		Subject:        receipt.ResourceRef{Object: "task", ID: fmt.Sprintf("task_%04d", i)},
		Issuer:         receipt.Issuer{ID: "harness_example_cloud", Kind: "harness"},
		IssuedAt:       at,
		Identifiers:    receipt.Identifiers{WorkspaceRef: "workspace_garden", SessionID: "s", TaskID: fmt.Sprintf("task_%04d", i)},
		Lifecycle:      receipt.Lifecycle{StartedAt: receipt.At(at.Add(-time.Minute)), CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:          receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput:    receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:     receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "openai", Model: "m"}, RoutePolicyReason: "r"},
		Cost:           receipt.Cost{Currency: "USD", Total: []float64{0.05, 0.1, 0.15, 0.2, 0.4}[i%5]},
		SideEffects:    receipt.SideEffects{NetworkEgress: []receipt.NetworkEgress{{Destination: "api.example.com", Purpose: "test", BytesSent: &sent}}},
		FinalArtifacts: []receipt.Artifact{{ArtifactID: "a", Kind: "patch"}},
	}
}
