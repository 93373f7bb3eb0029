package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBrokenOff verifies what a client receives if a response fails midway. It must receive
// everything that was written, even if it reads slowly and is still sending. It must also be able
// to detect that the response is incomplete.
func TestBrokenOff(t *testing.T) {
	fails := Route{Pattern: "POST /v1/fails", Open: true, Body: BodyStream, Serve: func(w http.ResponseWriter, r *Request) error {
		if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)+"the last line\n"); err != nil {
			return err
		}
		return errors.New("it went wrong")
	}}
	server := serving(t, muxOf(t, nil, fails))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	const length = 8 << 20
	go io.WriteString(conn, fmt.Sprintf("POST /v1/fails HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", length, strings.Repeat(" ", length)))

	var answer []byte
	piece := make([]byte, 16<<10)
	for err = nil; err == nil; time.Sleep(time.Millisecond) {
		var n int
		n, err = conn.Read(piece)
		answer = append(answer, piece[:n]...)
	}
	if !bytes.Contains(answer, []byte("the last line")) || bytes.HasSuffix(answer, []byte("0\r\n\r\n")) {
		t.Errorf("%v; %d bytes, which end in %q", err, len(answer), answer[max(0, len(answer)-20):])
	}
}

// TestLogged verifies that the log contains the causes of server errors, but nothing about normal
// conditions.
func TestLogged(t *testing.T) {
	full := Busy(1, "nothing was done")
	full.Cause = errors.New("no space left on device")
	for _, c := range []struct {
		err  error
		want string // part of the log, or "" if there is no entry
	}{
		{full, "no space left on device"}, {errors.New("it went wrong"), "it went wrong"},
		{Busy(1, "come again"), ""},
	} {
		var log bytes.Buffer
		m := muxOf(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) },
			Route{Pattern: "POST /v1/fails", Open: true, Serve: func(http.ResponseWriter, *Request) error { return c.err }})
		for _, key := range []string{"", "k"} {
			log.Reset()
			answer := ask(m, "POST", "/v1/fails", "{}", IdempotencyHeader, key)
			logged := log.Len() > 0
			if logged != (c.want != "") || !strings.Contains(log.String(), c.want) || logged && strings.Contains(answer.body, c.want) {
				t.Errorf("%v, with the key %q: %s; the log has %q", c.err, key, answer.body, log.String())
			}
		}
	}
}
