// Command podsecurity runs the Pod Security webhook, which Causeway's refusals are
// compared with, as its own command runs it. A module of its own, for what that
// webhook brings.
//
// It takes the flags and logs the lines by which package environment runs a
// causeway process, so that both run alike.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/component-base/cli"
	"k8s.io/pod-security-admission/cmd/webhook/server"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how the API server is reached")
	certDir := flag.String("cert-dir", "", "the folder of tls.crt and tls.key")
	config := flag.String("config", "", "the PodSecurityConfiguration")
	for _, name := range []string{"port", "health-probe-bind-address", "metrics-bind-address", "log-format"} {
		_ = flag.String(name, "", "taken and not used: there is one server, on a free port")
	}
	flag.Parse()
	address, port, err := freeAddress()
	if err != nil {
		fmt.Fprintln(os.Stderr, "podsecurity:", err)
		os.Exit(1)
	}
	command := server.NewServerCommand()
	command.SetArgs([]string{
		"--kubeconfig=" + *kubeconfig, "--config=" + *config, "--bind-address=127.0.0.1", "--secure-port=" + port,
		"--tls-cert-file=" + filepath.Join(*certDir, "tls.crt"), "--tls-private-key-file=" + filepath.Join(*certDir, "tls.key"),
	})
	go tellWhenReady(address)
	os.Exit(cli.Run(command))
}

// freeAddress is one that nobody serves on. The webhook takes a port by number
// only, so that another may take it first; then the webhook ends and says so.
func freeAddress() (address, port string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", "", err
	}
	_, port, err = net.SplitHostPort(address)
	return address, port, err
}

// tellWhenReady logs where the webhook serves, once it does.
func tellWhenReady(address string) {
	// It asks this process itself, whose certificate it need not check.
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	for range time.Tick(50 * time.Millisecond) {
		answer, err := client.Get("https://" + address + "/readyz")
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			break
		}
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	for _, server := range []string{"reviews", "probes", "metrics"} {
		log.Info("Serving", "server", server, "address", address)
	}
}
