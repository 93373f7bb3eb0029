package main

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

func newCompletion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "write a completion script for a shell",
		Long:  "Write a completion script. The shell runs it when it starts.",
		Example: `  receipt completion bash > receipt.bash
  receipt completion fish | head -n 1`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cli.ExactArgs(1, "the name of a shell, bash, zsh, fish or powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.Out, true)
			case "zsh":
				return root.GenZshCompletion(e.Out)
			case "fish":
				return root.GenFishCompletion(e.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(e.Out)
			}
			return cli.Usage("expected bash, zsh, fish or powershell", "unknown shell %q", args[0])
		},
	}
}
