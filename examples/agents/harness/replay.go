package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func (h *Harness) replay(w http.ResponseWriter, r *protocol.Request) error {
	return protocol.NotImplemented("replays")
}
