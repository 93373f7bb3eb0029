package file

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// Connections returns a connector whose connections use the file that is being watched, and never a
// different file that later has the same path. The connections keep their prepared statements.
func Connections(f *Watch, c driver.Connector) driver.Connector { return &connector{c, f} }

type connector struct {
	driver.Connector
	files *Watch
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.files.Same(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return keepStatements(conn)
}

// A connection keeps its prepared statements, because parsing and planning a statement takes longer
// than running it for a single receipt. SQLite prepares a statement again if the tables have
// changed.
type connection struct {
	driverConn
	idle map[string]driverStmt // prepared statements, by their text; nil after the connection has been closed
}

// driverConn has the methods that database/sql requires of a connection. It omits the methods that
// run a statement without preparing it, so that PrepareContext is always called.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
}

type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// mostIdle is the maximum number of statements that a connection keeps, which is more than a ledger
// needs.
const mostIdle = 64

func keepStatements(c driver.Conn) (*connection, error) {
	conn, ok := c.(driverConn)
	if !ok {
		return nil, fmt.Errorf("ledger: the driver's connection is a %T, which lacks methods", c)
	}
	return &connection{conn, map[string]driverStmt{}}, nil
}

// Prepare is like PrepareContext, but without a context.
func (c *connection) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext returns a statement that no other caller uses until the statement is closed.
func (c *connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if s := c.idle[query]; s != nil {
		delete(c.idle, query)
		return &statement{s, c, query}, nil
	}

	prepared, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("ledger: the driver's statement is a %T, which lacks methods", prepared), prepared.Close())
	}
	return &statement{s, c, query}, nil
}

// Close closes the connection. SQLite releases the file only after all statements have been closed.
func (c *connection) Close() error {
	var errs []error
	for _, s := range c.idle {
		errs = append(errs, s.Close())
	}
	c.idle = nil
	return errors.Join(append(errs, c.driverConn.Close())...)
}

// A statement is returned to its connection when it is closed.
type statement struct {
	driverStmt
	of    *connection
	query string
}

// Close is called when the result rows of the statement are closed.
func (s *statement) Close() error {
	if c := s.of; c.idle != nil && c.idle[s.query] == nil && len(c.idle) < mostIdle {
		c.idle[s.query] = s.driverStmt
		return nil
	}
	return s.driverStmt.Close()
}
