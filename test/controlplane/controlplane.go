package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Options say how a control plane runs. The zero value is useful.
type Options struct {
	// Binaries are the programs to run. If one is empty, both come from
	// EnsureBinaries, which tells Out when it has to build.
	Binaries Binaries

	// Dir holds the data, keys and logs. It is made if it is not there, and is
	// the caller's to remove. If empty, it is a temporary folder that Stop removes.
	Dir string

	// APIServerFlags are put after the flags of this package, and so win. The
	// same flags are used again by StartAPIServer.
	APIServerFlags []string

	// Out is given a copy of what both programs print, one write at a time. If nil,
	// they print only to files in Dir, whose end every error about them quotes.
	Out io.Writer

	// Detach leaves the programs running when the caller exits. Only Stop, or
	// ending the processes that PIDs names, stops them.
	Detach bool
}

// ControlPlane is a running etcd and kube-apiserver. Its methods may be called
// from several goroutines.
type ControlPlane struct {
	dir        string
	ownsDir    bool
	ca         *authority
	etcd       *etcd
	releaseAPI func()

	mu        sync.Mutex // guards what follows
	apiServer *apiServer
	stopped   bool
}

// attempts bounds how often a start that lost its port to somebody else is tried.
const attempts = 3

// Start runs a control plane and returns when it serves. The context bounds the
// start only; the control plane runs until Stop. On an error nothing is left.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if opts.Binaries.Etcd == "" || opts.Binaries.APIServer == "" {
		log := opts.Out
		if log == nil {
			log = io.Discard
		}
		var err error
		if opts.Binaries, err = EnsureBinaries(ctx, log); err != nil {
			return nil, err
		}
	}
	if opts.Out != nil {
		opts.Out = &oneAtATime{to: opts.Out}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("the control plane was not ready in 2 minutes"))
	defer cancel()

	var errs []error
	for range attempts {
		cp, err := start(ctx, opts)
		if err == nil {
			return cp, nil
		}
		errs = append(errs, err)
		// A program that ended at once most likely found its port taken. Anything
		// else would only happen again.
		var exited *exitError
		if !errors.As(err, &exited) || ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("start a control plane: %w", errors.Join(errs...))
}

func start(ctx context.Context, opts Options) (_ *ControlPlane, err error) {
	cp := &ControlPlane{}
	defer func() {
		if err != nil {
			err = errors.Join(err, cp.Stop())
		}
	}()
	if cp.dir, cp.ownsDir, err = prepareDir(opts.Dir); err != nil {
		return nil, err
	}
	if cp.ca, err = newAuthority("causeway-test-ca"); err != nil {
		return nil, err
	}
	if err := cp.writeKeys(); err != nil {
		return nil, err
	}
	if cp.etcd, err = startEtcd(ctx, opts.Binaries.Etcd, cp.dir, opts.Out, opts.Detach); err != nil {
		return nil, err
	}
	port, release, err := reservePort()
	if err != nil {
		return nil, err
	}
	cp.releaseAPI = release
	cp.apiServer = &apiServer{
		bin:    opts.Binaries.APIServer,
		dir:    cp.dir,
		port:   port,
		etcd:   cp.etcd.url(),
		flags:  opts.APIServerFlags,
		ca:     cp.ca,
		out:    opts.Out,
		detach: opts.Detach,
	}
	if err := cp.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	return cp, cp.waitForNamespaces(ctx)
}

func prepareDir(dir string) (_ string, owned bool, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "causeway-control-plane-")
		owned = true
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", false, fmt.Errorf("make the control plane's folder: %w", err)
	}
	return dir, owned, nil
}

func (cp *ControlPlane) writeKeys() error {
	for _, make := range []func() (map[string][]byte, error){
		newEtcdFiles,
		func() (map[string][]byte, error) { return newAPIServerFiles(cp.ca) },
	} {
		files, err := make()
		if err != nil {
			return err
		}
		if err := writeFiles(cp.dir, files); err != nil {
			return err
		}
	}
	return nil
}

// waitForNamespaces waits for the one thing that the API server does shortly
// after it calls itself ready, and that every test would trip over.
func (cp *ControlPlane) waitForNamespaces(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.AdminConfig())
	if err != nil {
		return err
	}
	return cp.apiServer.waitReady(ctx, func(ctx context.Context) error {
		for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
			ns, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if ns.Status.Phase != corev1.NamespaceActive {
				return fmt.Errorf("namespace %q is %q", name, ns.Status.Phase)
			}
		}
		return nil
	})
}

// Stop ends both programs and removes the folder if Start made it. Nothing runs
// any more when it returns. It may be called more than once.
func (cp *ControlPlane) Stop() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.stopped {
		return nil
	}
	cp.stopped = true
	if cp.apiServer != nil {
		cp.apiServer.kill()
	}
	cp.etcd.stop()
	if cp.releaseAPI != nil {
		cp.releaseAPI()
	}
	if !cp.ownsDir {
		return nil
	}
	if err := os.RemoveAll(cp.dir); err != nil {
		return fmt.Errorf("remove the control plane's folder: %w", err)
	}
	return nil
}

// StopAPIServer ends the API server as a crash would: connections break and
// nobody is told. Its port stays reserved and etcd keeps the data.
func (cp *ControlPlane) StopAPIServer() {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.apiServer.kill()
}

// StartAPIServer starts a stopped API server on the same port and data and
// returns when it serves. It does nothing if the server runs.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.stopped {
		return errors.New("start the API server: the control plane was stopped")
	}
	if cp.apiServer.running() {
		return nil
	}
	if err := cp.apiServer.start(ctx); err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	return nil
}

// Dir is where data, keys and logs are (etcd.log and kube-apiserver.log).
func (cp *ControlPlane) Dir() string { return cp.dir }

// URL is the address of the API server. It stays the same over a restart.
func (cp *ControlPlane) URL() string { return cp.apiServer.url() }

// CA is the authority, PEM, that signed the API server's certificate and signs
// those of its clients.
func (cp *ControlPlane) CA() []byte { return cp.ca.certPEM }

// PIDs are the processes that run now, each the leader of a process group.
func (cp *ControlPlane) PIDs() []int {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	var pids []int
	for _, p := range []*process{cp.apiServer.process, cp.etcd.process} {
		if p.running() {
			pids = append(pids, p.cmd.Process.Pid)
		}
	}
	return pids
}
