package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixedCert is a certs.Source that never changes.
type fixedCert struct{ cert *tls.Certificate }

func (f fixedCert) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.cert, nil }
func (f fixedCert) Start(ctx context.Context) error                               { <-ctx.Done(); return nil }
func (f fixedCert) Ready() error                                                  { return nil }

// running is a process under test.
type running struct {
	reviews, probes, profiles string // addresses
	stop                      context.CancelFunc
	ended                     chan error
}

// forEver bounds every wait here; it is no claim about the process.
const forEver = time.Minute

// launch starts a process on free ports and waits until it listens.
func launch(t *testing.T, delay time.Duration, s service, change ...func(*process)) *running {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)

	addresses := make(chan [2]string, 4)
	logger := funcr.NewJSON(func(line string) {
		var l struct{ Server, Address string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Address != "" {
			_, port, _ := net.SplitHostPort(l.Address)
			addresses <- [2]string{l.Server, "127.0.0.1:" + port}
		}
	}, funcr.Options{})
	if s.register == nil {
		s.register = func(*http.ServeMux) {}
	}
	if s.run == nil {
		s.run = func(ctx context.Context) error { <-ctx.Done(); return nil }
	}
	p := &process{
		options:  &commonOptions{ProbeAddress: "127.0.0.1:0", MetricsAddr: "127.0.0.1:0", PprofAddress: off, ShutdownDelay: delay},
		logger:   logger,
		cert:     fixedCert{&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}},
		gatherer: prometheus.NewRegistry(),
		service:  s,
	}
	servers := 3
	for _, c := range change {
		c(p)
	}
	if p.options.PprofAddress != off {
		servers++
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- p.run(ctx) }()
	for range servers {
		select {
		case a := <-addresses:
			switch a[0] {
			case "reviews":
				r.reviews = a[1]
			case "probes":
				r.probes = a[1]
			case "profiles":
				r.profiles = a[1]
			}
		case <-time.After(forEver):
			t.Fatal("the process does not listen")
		}
	}
	t.Cleanup(cancel)
	return r
}

// ready asks /readyz as kubelet does.
func (r *running) ready() bool {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: forEver}
	response, err := client.Get("http://" + r.probes + "/readyz")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// end waits for the process.
func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(forEver):
		t.Fatal("the process does not end")
		return nil
	}
}

// h2 is a client like the API server's, which keeps one HTTP/2 connection to whoever dial chooses.
func h2(dial func() string) (*http.Client, *http.Transport) {
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, dial())
		},
	}
	return &http.Client{Transport: transport, Timeout: forEver}, transport
}

func review(client *http.Client) error {
	response, err := client.Post("https://service.example/review", "application/json", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		return errors.New(response.Proto + " " + response.Status)
	}
	return nil
}

// Two replicas under load, one is stopped: the load must not notice. Rotation follows readiness a moment late, as a
// Service does.
func TestNoReviewIsRefusedWhileAReplicaStops(t *testing.T) {
	slow := service{register: func(mux *http.ServeMux) {
		mux.HandleFunc("/review", func(w http.ResponseWriter, r *http.Request) {
			<-time.After(5 * time.Millisecond) // the time a review takes
			_, _ = w.Write([]byte("{}"))
		})
	}}
	// The delay is for those who turn away a moment after it says that it is not ready, here as in a cluster; a busy machine
	// takes some moments more.
	a, b := launch(t, 3*time.Second, slow), launch(t, 0, slow)
	var rotation atomic.Value
	rotation.Store(a.reviews)
	client, transport := h2(func() string { return rotation.Load().(string) })
	defer transport.CloseIdleConnections()

	var reviews, faults atomic.Int64
	load, stopLoad := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for load.Err() == nil {
				if err := review(client); err != nil {
					t.Error(err)
					faults.Add(1)
					return
				}
				reviews.Add(1)
			}
		})
	}
	more := func() {
		t.Helper()
		before := reviews.Load()
		require.Eventually(t, func() bool { return reviews.Load() > before+100 || faults.Load() > 0 }, forEver, time.Millisecond)
	}
	more()
	require.True(t, a.ready())
	a.stop()
	require.Eventually(t, func() bool { return !a.ready() }, forEver, 5*time.Millisecond)
	rotation.Store(b.reviews)
	require.NoError(t, a.end(t))
	more()
	stopLoad()
	clients.Wait()
	assert.Zero(t, faults.Load())
	transport.CloseIdleConnections()
	b.stop()
	require.NoError(t, b.end(t))
}

func TestReviewsInFlightFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var order []string
	var r *running
	s := service{
		register: func(mux *http.ServeMux) {
			mux.HandleFunc("/review", func(w http.ResponseWriter, r *http.Request) {
				close(entered)
				<-release
				assert.NoError(t, r.Context().Err(), "a review's context outlives the signal")
			})
		},
		run: func(ctx context.Context) error { <-ctx.Done(); order = append(order, "run ended"); return nil },
		drain: func(context.Context) {
			order = append(order, "ready "+strconv.FormatBool(r.ready()))
			conn, err := net.Dial("tcp", r.reviews)
			if assert.NoError(t, err, "the listener is still open") {
				_ = conn.Close()
			}
			order = append(order, "drained")
			close(release)
		},
	}
	r = launch(t, 0, s)
	require.Eventually(t, r.ready, forEver, 5*time.Millisecond)
	client, transport := h2(func() string { return r.reviews })
	defer transport.CloseIdleConnections()
	answered := make(chan error, 1)
	go func() { answered <- review(client) }()
	<-entered
	r.stop()
	require.NoError(t, <-answered)
	require.NoError(t, r.end(t))
	assert.Equal(t, []string{"ready false", "drained", "run ended"}, order)
}

// Losing the lease is such a failure: from then on nothing this process does is right.
func TestAFailureEndsTheProcessAtOnce(t *testing.T) {
	failure := errors.New("the lease was lost")
	const delay = time.Minute
	start := time.Now()
	r := launch(t, delay, service{
		run:   func(context.Context) error { return failure },
		drain: func(context.Context) { t.Error("nothing is handed over") },
	})
	assert.ErrorIs(t, r.end(t), failure)

	fail := make(chan struct{})
	r = launch(t, delay, service{run: func(context.Context) error { <-fail; return failure }})
	r.stop()
	require.Eventually(t, func() bool { return !r.ready() }, forEver, 5*time.Millisecond)
	close(fail)
	assert.ErrorIs(t, r.end(t), failure, "also while it is stopping")
	assert.Less(t, time.Since(start), delay, "it waits for nobody to turn away")
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer socket.Close()
	taken := socket.Addr().String()
	_, port, _ := net.SplitHostPort(taken)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	for flag, options := range map[string]commonOptions{
		"health-probe-bind-address": {ProbeAddress: taken, MetricsAddr: off, PprofAddress: off},
		"metrics-bind-address":      {ProbeAddress: "127.0.0.1:0", MetricsAddr: taken, PprofAddress: off},
		"pprof-bind-address":        {ProbeAddress: "127.0.0.1:0", MetricsAddr: off, PprofAddress: taken},
		"port":                      {ProbeAddress: off, MetricsAddr: "127.0.0.1:0", PprofAddress: off, Port: number},
	} {
		t.Run(flag, func(t *testing.T) {
			p := &process{options: &options, cert: fixedCert{}, gatherer: prometheus.NewRegistry(),
				service: service{register: func(*http.ServeMux) {}}}
			err := p.run(t.Context())
			require.ErrorContains(t, err, "address already in use: choose another --"+flag)
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	r := launch(t, 0, service{})
	_, err := tls.Dial("tcp", r.reviews, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	require.ErrorContains(t, err, "protocol version")
	conn, err := tls.Dial("tcp", r.reviews, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	assert.Equal(t, "h2", conn.ConnectionState().NegotiatedProtocol)
	require.NoError(t, conn.Close())
	r.stop()
	require.NoError(t, r.end(t))
}
