package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/root"
)

// run runs one command line in the test process and returns its exit code.
func run(ctx context.Context, args []string, e *cli.Env) int { return root.Run(ctx, args, e) }

func newRoot(e *cli.Env) *cobra.Command { return root.New(e) }

func eachCommand(cmd *cobra.Command, f func(*cobra.Command) error) error { return root.Each(cmd, f) }
