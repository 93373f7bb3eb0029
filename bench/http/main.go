// Command http compares the verification endpoint with the command. Both verify the same file of
// lines, in turn, and write a report for each line.
//
//	go run ./http -most 1.25 DIR/receipt DIR/keys.json DIR/corpus.jsonl
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/race"
)

func main() {
	rounds := flag.Int("rounds", 5, "how many rounds, a turn of each")
	most := flag.Float64("most", 0, "exit with 1 when the endpoint takes longer than this times the command; 0: never")
	flag.Parse()
	if err := compare(context.Background(), os.Stdout, *rounds, *most, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "http: error: %v\n", err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, w io.Writer, rounds int, most float64, args []string) error {
	if len(args) != 3 || rounds < 1 {
		return errors.New("usage: http [-rounds N] [-most N] RECEIPT KEYS FILE")
	}
	binary, keys, file := args[0], args[1], args[2]
	url, stop, err := serve(ctx, binary, keys)
	if err != nil {
		return err
	}
	defer stop()
	var last race.Times
	lines := map[string]int{}
	turn := func(name string, f func() (int, error)) race.Turn {
		return func(int) (float64, error) {
			start := time.Now()
			n, err := f()
			lines[name] = n
			return time.Since(start).Seconds(), err
		}
	}
	command := turn("command", func() (int, error) { return verify(ctx, binary, keys, file) })
	endpoint := turn("endpoint", func() (int, error) { return post(ctx, url, file) })

	// The first round is not counted, because it loads files and programs into memory.
	for _, n := range []int{1, rounds} {
		times, err := race.Rounds(ctx, n, command, endpoint)
		if err != nil {
			return err
		}
		if lines["command"] != lines["endpoint"] {
			return fmt.Errorf("the command wrote %d lines, the endpoint %d", lines["command"], lines["endpoint"])
		}
		last = times
	}

	ratio := last.Ratio(1, 0)
	fmt.Fprintf(w, "command   %6.2f s\nendpoint  %6.2f s\nratio     %6.2f (median of %d rounds; %.2f to %.2f)\n",
		last.Median(0), last.Median(1), ratio.Median, rounds, ratio.Least, ratio.Most)
	if most > 0 && ratio.Median > most {
		return fmt.Errorf("the endpoint takes %.2f times as long as the command, expected at most %.2f", ratio.Median, most)
	}
	return nil
}

// serve starts the endpoint on a free port.
func serve(ctx context.Context, binary, keys string) (url string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "--addr", "127.0.0.1:0", "--keys", keys)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		stop()
		return "", nil, fmt.Errorf("%s serve: it does not listen: %s", binary, &log)
	}
	return address + "/v1/verify", stop, nil
}

func verify(ctx context.Context, binary, keys, file string) (lines int, err error) {
	cmd := exec.CommandContext(ctx, binary, "verify", "--keys", keys, "--format", "ndjson", file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if lines, err = count(out); err != nil {
		return 0, err
	}
	var status *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &status) {
		return 0, err
	}
	return lines, nil
}

func post(ctx context.Context, url, file string) (lines int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, f)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return count(resp.Body)
}

// count reads until the end and returns the number of newlines.
func count(r io.Reader) (lines int, err error) {
	buffer := make([]byte, 1<<20)
	for {
		n, err := r.Read(buffer)
		lines += bytes.Count(buffer[:n], []byte{'\n'})
		switch err {
		case nil:
		case io.EOF:
			return lines, nil
		default:
			return 0, err
		}
	}
}
