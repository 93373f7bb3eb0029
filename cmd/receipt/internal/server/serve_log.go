package server

import (
	"log/slog"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// newServeLog returns the log of a server: on stderr, for persons on a terminal and
// as a JSON object a line for programs.
func newServeLog(e *cli.Env, format string) *slog.Logger {
	if format == "text" || format == "auto" && e.ErrTerminal {
		return slog.New(slog.NewTextHandler(e.Err, nil))
	}
	return slog.New(slog.NewJSONHandler(e.Err, nil))
}
