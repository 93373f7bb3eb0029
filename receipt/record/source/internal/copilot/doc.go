// Package copilot reads the events of GitHub Copilot CLI:
// ~/.copilot/session-state/ID/events.jsonl.
package copilot
