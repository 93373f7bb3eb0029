package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/BurntSushi/toml"
)

// Defaults contains values for flags and arguments that the command line does not specify. They are
// read from a file that "receipt init" creates for the user.
type Defaults struct {
	Issuer string `toml:"issuer,omitempty"` // of the receipts that record issues
	Key    string `toml:"key,omitempty"`    // that signs them
	Keys   string `toml:"keys,omitempty"`   // trust file
	Ledger string `toml:"ledger,omitempty"`
	Each   string `toml:"each,omitempty"` // unit of a receipt: task or session
}

// maxDefaults is the maximum size of the defaults file, in bytes.
const maxDefaults = 64 << 10

// DefaultsFile returns the path of the defaults file: $RECEIPT_CONFIG, or receipt/config.toml in
// the user's configuration directory. An empty $RECEIPT_CONFIG selects no file.
func DefaultsFile(lookup func(string) (string, bool)) string {
	if path, set := lookup("RECEIPT_CONFIG"); set {
		return path
	}
	e := &Env{Getenv: func(name string) string { value, _ := lookup(name); return value }}
	return ConfigFile(e, "config.toml")
}

// ReadDefaults reads the defaults file. There are no defaults if no file is selected, or if the
// file does not exist.
func ReadDefaults(e *Env) error {
	if e.Config == "" {
		return nil
	}
	f, err := os.Open(e.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const hint = "correct the file, or set RECEIPT_CONFIG to another file or to an empty value"
	if err != nil {
		return Usage(hint, "reading defaults %q: %w", e.Config, Reason(err))
	}
	defer f.Close()
	if err := RefuseShared(e.Config); err != nil {
		return err
	}

	text, err := io.ReadAll(io.LimitReader(f, maxDefaults+1))
	if err == nil && len(text) > maxDefaults {
		err = fmt.Errorf("file has more than %d bytes", maxDefaults)
	}
	var d Defaults
	if err == nil {
		d, err = parseDefaults(string(text))
	}
	if err != nil {
		return Usage(hint, "reading defaults %q: %w", e.Config, err)
	}
	for _, path := range []*string{&d.Key, &d.Keys, &d.Ledger} {
		*path = inDir(filepath.Dir(e.Config), *path)
	}
	e.Defaults = d
	return nil
}

// parseDefaults parses the text of a defaults file. Unknown names are an error, because a
// misspelled name must not be ignored.
func parseDefaults(text string) (d Defaults, err error) {
	meta, err := toml.Decode(text, &d)
	if err != nil {
		return d, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return d, fmt.Errorf("unknown name %.80q", unknown[0].String())
	}
	if d.Each != "" && d.Each != "task" && d.Each != "session" {
		return d, fmt.Errorf("invalid each %.80q: must be task or session", d.Each)
	}
	return d, nil
}

// Marshal returns the text of a defaults file.
func (d *Defaults) Marshal() ([]byte, error) {
	text, err := toml.Marshal(d)
	return append([]byte("# Defaults of receipt. Flags take precedence.\n"), text...), err
}

// inDir resolves a path relative to a directory. Absolute paths, addresses, and the names of keys
// that are not in files are returned unchanged.
func inDir(dir, path string) string {
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, ":") {
		return path
	}
	return filepath.Join(dir, path)
}

// InputGiven reports whether stdin provides input for a command without arguments. A pipe or a file
// provides input, but a terminal or /dev/null does not.
func InputGiven(e *Env) bool {
	switch in := e.In.(type) {
	case *os.File:
		info, err := in.Stat()
		return err == nil && info.Mode()&fs.ModeCharDevice == 0
	case interface{ Len() int }:
		return in.Len() > 0
	}
	return e.In != nil
}

// RefuseShared returns an error if other users may modify or replace a file that a command reads by
// default. On Windows, it relies on the permissions of the user's directory.
func RefuseShared(path string) error {
	for _, path := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(path)
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return Usage("chmod go-w "+ShellFile(path), "%q is writable by others (%v)", path, info.Mode().Perm())
		}
	}
	return nil
}

// ConfigFile returns the path of a file in the user's configuration directory for this program, or
// "" if the user has no such directory.
func ConfigFile(e *Env, name string) string { return programFile(configDir(e), name) }

// DataFile returns the path of a file in the user's data directory for this program, or "" if the
// user has no such directory.
func DataFile(e *Env, name string) string { return programFile(dataDir(e), name) }

func programFile(dir, name string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "receipt", name)
}

// configDir is like os.UserConfigDir, but uses the variables of e.
func configDir(e *Env) string {
	return userDir(e, "AppData", "XDG_CONFIG_HOME", ".config")
}

// dataDir is like configDir, but returns the directory for data. On macOS, the two directories are
// the same.
func dataDir(e *Env) string {
	return userDir(e, "LocalAppData", "XDG_DATA_HOME", ".local/share")
}

func userDir(e *Env, windows, xdg, usual string) string {
	home := e.Getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		return e.Getenv(windows)
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	if dir := e.Getenv(xdg); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, filepath.FromSlash(usual))
}

// Home returns the home directory of the user, or "".
func Home(e *Env) string {
	if home := e.Getenv("HOME"); home != "" {
		return home
	}
	return e.Getenv("USERPROFILE")
}

// Tilde formats a path for a person, with ~ in place of the home directory.
func Tilde(e *Env, path string) string {
	home := filepath.Clean(Home(e))
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && len(home) > 1 {
		path = "~" + string(filepath.Separator) + rest
	}
	return EscapeLine(path)
}
