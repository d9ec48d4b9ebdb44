// Package tools is what a client may call: memory and, where a provider is
// configured, memory_recall and the provider's own. The third, session_search,
// is in tools/sessions; what all of them hold to is said in tools/wire.
//
// A tool is one .go file with its arguments and handler, one .md with its
// description and one .schema.json, both embedded. Every word a client sees of
// a tool is fixed in the binary.
package tools
