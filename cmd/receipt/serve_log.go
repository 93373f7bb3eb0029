package main

import "log/slog"

// newServeLog returns the log of a server: on stderr, for persons on a terminal and
// as a JSON object a line for programs.
func newServeLog(e *env, format string) *slog.Logger {
	if format == "text" || format == "auto" && e.errTerminal {
		return slog.New(slog.NewTextHandler(e.err, nil))
	}
	return slog.New(slog.NewJSONHandler(e.err, nil))
}
