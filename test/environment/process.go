package environment

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is one running causeway process.
type Process struct {
	// Name is how its output is told from that of others.
	Name string

	cmd  *exec.Cmd
	done chan struct{}

	mu        sync.Mutex
	log       strings.Builder
	addresses map[string]string
	changed   chan struct{}
	err       error
}

// StartProcess runs the binary with the arguments and the addresses left to the
// system. It returns when the process serves or has ended; out, if not nil,
// gets what it logs.
func StartProcess(ctx context.Context, name, binary string, out io.Writer, args ...string) (*Process, error) {
	p := &Process{
		Name: name, done: make(chan struct{}),
		addresses: map[string]string{}, changed: make(chan struct{}),
	}
	p.cmd = exec.Command(binary, append(args,
		"--port=0", "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0", "--log-format=json")...)
	dieWithParent(p.cmd)
	pipe, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", name, err), pipe.Close(), w.Close())
	}
	_ = w.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(pipe, out)
	}()
	go func() {
		err := p.cmd.Wait()
		<-read
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(p.done)
	}()
	for _, server := range []string{"reviews", "probes", "metrics"} {
		if _, err := p.Address(ctx, server); err != nil {
			p.Kill()
			return nil, err
		}
	}
	return p, nil
}

// read notes the addresses that the process says it serves on.
func (p *Process) read(pipe io.ReadCloser, out io.Writer) {
	defer pipe.Close()
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct{ Msg, Server, Address string }
		// Nothing else is of interest, and what logs much is not to be slowed.
		if bytes.Contains(lines.Bytes(), []byte(`"Serving"`)) {
			_ = json.Unmarshal(lines.Bytes(), &entry)
		}
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		if entry.Msg == "Serving" {
			p.addresses[entry.Server] = loopback(entry.Address)
			close(p.changed)
			p.changed = make(chan struct{})
		}
		p.mu.Unlock()
		if out != nil {
			_, _ = fmt.Fprintf(out, "%s: %s\n", p.Name, lines.Text())
		}
	}
}

func loopback(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// Address is where the process serves reviews, probes or metrics.
func (p *Process) Address(ctx context.Context, server string) (string, error) {
	for {
		p.mu.Lock()
		address, changed := p.addresses[server], p.changed
		p.mu.Unlock()
		if address != "" {
			return address, nil
		}
		select {
		case <-changed:
		case <-p.done:
			return "", fmt.Errorf("%s ended: %w\n%s", p.Name, p.Err(), p.Log())
		case <-ctx.Done():
			return "", fmt.Errorf("%s does not serve %s: %w\n%s", p.Name, server, context.Cause(ctx), p.Log())
		}
	}
}

// probe asks one path of the process's probe address, with its own short limit.
func (p *Process) probe(ctx context.Context, path string) (status int, body string) {
	p.mu.Lock()
	address := p.addresses["probes"]
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	answer, err := probes.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	return answer.StatusCode, string(text)
}

// probes keeps no connections, so that a stopped process cannot hold one.
var probes = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Ready tells whether /readyz says so.
func (p *Process) Ready(ctx context.Context) bool {
	status, _ := p.probe(ctx, "/readyz")
	return status == http.StatusOK
}

// Active tells whether /activez says so.
func (p *Process) Active(ctx context.Context) bool {
	status, _ := p.probe(ctx, "/activez")
	return status == http.StatusOK
}

// WaitReady returns when /readyz says so, or with an error when the process has
// ended, and says what it waits for if ctx ends first.
func (p *Process) WaitReady(ctx context.Context) error {
	var ended error
	err := WaitFor(ctx, p.Name+" to be ready", func() (bool, string) {
		status, body := p.probe(ctx, "/readyz?verbose")
		if p.Ended() {
			ended = fmt.Errorf("%s ended: %w\n%s", p.Name, p.Err(), p.Log())
		}
		return status == http.StatusOK || ended != nil, body
	})
	return errors.Join(err, ended)
}

// Metrics is what the process exposes.
func (p *Process) Metrics(ctx context.Context) (string, error) {
	address, err := p.Address(ctx, "metrics")
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return "", err
	}
	answer, err := probes.Do(r)
	if err != nil {
		return "", fmt.Errorf("reading the metrics of %s: %w", p.Name, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// Signal sends a signal to the process.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the process at once and waits for it.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop ends the process in order and returns how it ended.
func (p *Process) Stop() error {
	_ = p.Signal(syscall.SIGCONT)
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(40 * time.Second):
		p.Kill()
		return fmt.Errorf("%s did not stop\n%s", p.Name, p.Log())
	}
	return p.Err()
}

// Ended tells whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the process ended, nil for exit code 0.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Log is all that the process has printed.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}
