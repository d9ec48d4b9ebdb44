package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

func (a *app) printConfigCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
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
				file := ""
				if a.userHome() != "" {
					file = client.File(a.clientPlace())
				}
				server := client.Starting(clients.Server{Command: command, Args: a.serveArgs()})
				text, err := client.Snippet(clients.Server{Command: command, Args: a.serveArgs()})
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(map[string]any{
						"client": client.Name, "file": file, "text": text,
						"server": append([]string{server.Command}, server.Args...),
					})
				}
				if file != "" {
					fmt.Fprintf(a.err, "%s reads %s\n", client.Title, file)
				}
				_, err = fmt.Fprint(a.out, text)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: client, file, text, and the words that start the server")
	return c
}
