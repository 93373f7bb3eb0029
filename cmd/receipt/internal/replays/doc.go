// Package replays holds the verb replay: its plan, run, check and compare.
package replays
