package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

func (a *app) printConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use: "print-config CLIENT", Short: "Print what to put into a client's configuration",
		Long:      "Prints what to put into the configuration of a client, and on standard error\nthe file that it belongs into. Clients: " + strings.Join(clients.Names(), ", ") + ".",
		Args:      cobra.ExactArgs(1),
		ValidArgs: clients.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, true, func(context.Context) error {
				client, err := clients.Find(args[0])
				if err != nil {
					return failure{codeUsage, err}
				}
				command, err := clients.Program(a.userHome())
				if err != nil {
					return err
				}
				if a.userHome() != "" {
					fmt.Fprintf(a.err, "%s reads %s\n", client.Title, client.File(a.clientPlace()))
				}
				text, err := client.Snippet(clients.Server{Command: command, Args: a.serveArgs()})
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(a.out, text)
				return err
			})
		},
	}
}
