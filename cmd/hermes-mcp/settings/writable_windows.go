package settings

// unwritable is not known before something is written.
func unwritable(string) error { return nil }
