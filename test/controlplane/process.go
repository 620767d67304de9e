package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// process is a running etcd or kube-apiserver.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	done    chan struct{} // closed once the process has ended and was reaped
	err     error         // how it ended; read only after done
}

// startProcess starts cmd with its output appended to logPath and, if out is
// not nil, copied there. A detached process outlives its caller.
func startProcess(name string, cmd *exec.Cmd, logPath string, out io.Writer, detach bool) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	var to io.Writer = log
	if out != nil && !detach {
		to = io.MultiWriter(log, out)
	}
	cmd.Stdout, cmd.Stderr = to, to
	cmd.WaitDelay = 5 * time.Second
	if detach {
		ownGroup(cmd)
	} else {
		dieWithParent(cmd)
	}

	p := &process{name: name, cmd: cmd, logPath: logPath, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer log.Close()
		// The kernel watches the thread that started the process, not the Go
		// program, so this thread has to last as long as the process does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// waitReady asks ready until it says yes, the process ends or ctx does.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	var last error
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		last = ready(once)
		cancel()
		select {
		case <-p.done:
			return &exitError{name: p.name, err: p.err, log: p.logTail()}
		default:
		}
		if last == nil {
			return nil
		}
		select {
		case <-p.done:
			return &exitError{name: p.name, err: p.err, log: p.logTail()}
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: last answer: %w; its log ends:\n%s", p.name, context.Cause(ctx), last, p.logTail())
		case <-retry.C:
		}
	}
}

// kill ends the process and all its children at once, and returns when they are
// gone. There is no gentle way on purpose: a test wants the same end each time,
// and no data outlives it.
func (p *process) kill() {
	if p == nil {
		return
	}
	select {
	case <-p.done:
		return
	default:
	}
	// An error means that it ended by itself meanwhile.
	_ = killGroup(p.cmd.Process)
	<-p.done
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// logTail returns the end of the log, which is where a process says why it left.
func (p *process) logTail() string {
	const most = 4096
	data, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	if len(data) > most {
		data = data[len(data)-most:]
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	return string(bytes.TrimSpace(data))
}

// exitError says that a process ended before it was ready.
type exitError struct {
	name string
	err  error
	log  string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("%s ended before it was ready (%v); its log ends:\n%s", e.name, e.err, e.log)
}

func (e *exitError) Unwrap() error { return e.err }

// oneAtATime lets several processes share a writer that is not made for it.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneAtATime) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
