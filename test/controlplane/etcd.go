package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
)

// etcd is the store. It speaks TLS with an authority of its own, so that one
// control plane can never talk to the etcd of another that took its port.
type etcd struct {
	*process
	port    int
	release func()
}

const (
	etcdCAFile         = "etcd-ca.crt"
	etcdServerCertFile = "etcd-server.crt"
	etcdServerKeyFile  = "etcd-server.key"
	etcdClientCertFile = "etcd-client.crt"
	etcdClientKeyFile  = "etcd-client.key"
)

func startEtcd(ctx context.Context, bin, dir string, out io.Writer, detach bool) (*etcd, error) {
	client, err := etcdClient(dir)
	if err != nil {
		return nil, err
	}
	port, releaseClient, err := reservePort()
	if err != nil {
		return nil, err
	}
	peerPort, releasePeer, err := reservePort()
	if err != nil {
		releaseClient()
		return nil, err
	}
	e := &etcd{port: port, release: func() { releaseClient(); releasePeer() }}

	peer := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	cmd := exec.Command(bin,
		"--name=causeway",
		"--data-dir="+filepath.Join(dir, "etcd"),
		"--listen-client-urls="+e.url(),
		"--advertise-client-urls="+e.url(),
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=causeway="+peer,
		"--trusted-ca-file="+filepath.Join(dir, etcdCAFile),
		"--cert-file="+filepath.Join(dir, etcdServerCertFile),
		"--key-file="+filepath.Join(dir, etcdServerKeyFile),
		"--client-cert-auth",
		// The data dies with the test, so a write need not reach the disk.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
	cmd.Dir = dir
	e.process, err = startProcess("etcd", cmd, filepath.Join(dir, "etcd.log"), out, detach)
	if err != nil {
		e.release()
		return nil, err
	}
	if err := e.waitReady(ctx, func(ctx context.Context) error { return getOK(ctx, client, e.url()+"/health") }); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

func (e *etcd) url() string { return fmt.Sprintf("https://127.0.0.1:%d", e.port) }

func (e *etcd) stop() {
	if e == nil {
		return
	}
	e.kill()
	e.release()
}

// newEtcdFiles issues the certificates of both ends.
func newEtcdFiles() (map[string][]byte, error) {
	ca, err := newAuthority("causeway-test-etcd-ca")
	if err != nil {
		return nil, err
	}
	server, err := ca.server("etcd")
	if err != nil {
		return nil, err
	}
	client, err := ca.client("kube-apiserver")
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		etcdCAFile:         ca.certPEM,
		etcdServerCertFile: server.cert,
		etcdServerKeyFile:  server.key,
		etcdClientCertFile: client.cert,
		etcdClientKeyFile:  client.key,
	}, nil
}

func etcdClient(dir string) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, etcdClientCertFile), filepath.Join(dir, etcdClientKeyFile))
	if err != nil {
		return nil, fmt.Errorf("load the client certificate of etcd: %w", err)
	}
	roots := x509.NewCertPool()
	if err := appendFile(roots, filepath.Join(dir, etcdCAFile)); err != nil {
		return nil, err
	}
	return probeClient(&tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}), nil
}
