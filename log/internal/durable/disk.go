// Package durable replaces small files so that, after a crash, a file has either its old or its new
// content.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A Disk is a directory that contains small files. It has a method for each step of [Replace], so
// that tests can end a process between any two steps.
type Disk interface {
	Read(name string) ([]byte, error)     // returns fs.ErrNotExist if there is no such file
	Write(name string, data []byte) error // not durable before SyncFile is called
	SyncFile(name string) error           // makes the content of a file durable
	Rename(from, to string) error         // not durable before SyncDir is called
	SyncDir() error                       // makes the names of all files in the directory durable
}

// Replace replaces the content of a file. If it returns nil, the new content is durable. After an
// error or a crash, the file has either its old or its new content.
func Replace(d Disk, name string, data []byte) error {
	temp := fmt.Sprintf("%s.%d.new", name, os.Getpid()) // other processes may replace the same file at the same time
	if err := d.Write(temp, data); err != nil {
		return err
	}
	if err := d.SyncFile(temp); err != nil {
		return err
	}
	if err := d.Rename(temp, name); err != nil {
		return err
	}
	return d.SyncDir()
}

// Names is the path of a directory in the file system. The directory must exist.
type Names string

// A Dir is a directory in the file system that is locked for this process.
type Dir struct {
	Names
	lock *os.File
}

// ErrLocked indicates that another process is using a directory.
var ErrLocked = errors.New("another process uses the directory")

// OpenDir creates a directory if necessary, and locks it until Close is called or the process ends.
func OpenDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return &Dir{Names(path), lock}, nil
}

// Close unlocks the directory.
func (d *Dir) Close() error { return d.lock.Close() }

// Read implements Disk.
func (d Names) Read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(string(d), name)) }

// Write implements Disk.
func (d Names) Write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(string(d), name), data, 0o644)
}

// SyncFile implements Disk.
func (d Names) SyncFile(name string) error {
	return syncPath(filepath.Join(string(d), name), os.O_RDWR)
}

// Rename implements Disk.
func (d Names) Rename(from, to string) error {
	return os.Rename(filepath.Join(string(d), from), filepath.Join(string(d), to))
}

// SyncDir implements Disk.
func (d Names) SyncDir() error { return syncPath(string(d), os.O_RDONLY) }

func syncPath(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
