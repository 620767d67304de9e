package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ran is what the runners of a test were given.
type ran struct {
	webhook     *webhookOptions
	statuspatch *statuspatchOptions
	audit       *auditOptions
}

// execute runs the command tree without a server behind it.
func execute(t *testing.T, args ...string) (got ran, output string, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newCommand(args, runners{
		webhook:     func(_ context.Context, o *webhookOptions) error { got.webhook = o; return nil },
		statuspatch: func(_ context.Context, o *statuspatchOptions) error { got.statuspatch = o; return nil },
		audit:       func(_ context.Context, o *auditOptions, _ io.Writer) error { got.audit = o; return nil },
	})
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err = cmd.ExecuteContext(t.Context())
	return got, out.String(), err
}

func TestDefaults(t *testing.T) {
	t.Setenv("POD_IP", "192.0.2.7")
	got, _, err := execute(t, "webhook")
	require.NoError(t, err)
	certOptions := certOptions{Mode: "files", Dir: "/etc/causeway/tls",
		Secret:            namespacedName{Namespace: "causeway-system", Name: "causeway-self-managed"},
		AuthorityLifetime: 8760 * time.Hour, ServingLifetime: 720 * time.Hour, Validating: "causeway-webhook"}
	assert.Equal(t, ran{webhook: &webhookOptions{
		commonOptions: commonOptions{certOptions: certOptions, Port: 9443, ProbeAddress: ":8081", MetricsAddr: ":8080", PprofAddress: "0",
			ShutdownDelay: 5 * time.Second, LogFormat: "json"},
		Capabilities: "enforce",
	}}, got)

	got, _, err = execute(t, "statuspatch")
	require.NoError(t, err)
	certOptions.Validating, certOptions.Mutating = "causeway-status", "causeway-overlay"
	assert.Equal(t, ran{statuspatch: &statuspatchOptions{
		commonOptions: commonOptions{certOptions: certOptions, Port: 9444, ProbeAddress: ":8083", MetricsAddr: ":8082", PprofAddress: "0", LogFormat: "json"},
		Overlay:       true, Budget: 2 * time.Second, ReplicasReady: true, RepairLoop: true,
		StartGrace: time.Minute, ScheduleGrace: time.Minute,
		LeaseNamespace: "causeway-system", LeaseName: "causeway-statuspatch", Advertise: "192.0.2.7",
	}}, got)
}

func TestEveryFlagReachesItsOption(t *testing.T) {
	common := []string{"--kubeconfig=k", "--port=1", "--health-probe-bind-address=127.0.0.1:2",
		"--metrics-bind-address=0", "--metrics-secure", "--shutdown-delay=1m", "-v4", "--log-format=text",
		"--dev", "--pprof-bind-address=127.0.0.1:3", "--otlp-endpoint=http://localhost:4317",
		"--cert-mode=self-managed", "--cert-dir=c", "--cert-secret=d/e", "--ca-lifetime=4h", "--cert-lifetime=1h",
		"--validating-webhook-configuration=v", "--mutating-webhook-configuration=m",
		"--client-ca-file=f", "--client-allowed-names=x,y", "--client-allowed-names=z"}
	wantCommon := commonOptions{Kubeconfig: "k", Port: 1, ProbeAddress: "127.0.0.1:2", MetricsAddr: "0", MetricsSecure: true,
		ShutdownDelay: time.Minute, LogFormat: "text", Dev: true, Verbosity: 4,
		PprofAddress: "127.0.0.1:3", OTLPEndpoint: "http://localhost:4317",
		certOptions: certOptions{Mode: "self-managed", Dir: "c", Secret: namespacedName{Namespace: "d", Name: "e"},
			AuthorityLifetime: 4 * time.Hour, ServingLifetime: time.Hour, Validating: "v", Mutating: "m",
			ClientCAFile: "f", ClientNames: []string{"x", "y", "z"}}}

	got, _, err := execute(t, append([]string{"webhook", "--capabilities=warn"}, common...)...)
	require.NoError(t, err)
	assert.Equal(t, &webhookOptions{commonOptions: wantCommon, Capabilities: "warn"}, got.webhook)

	got, _, err = execute(t, append([]string{"statuspatch", "--overlay=false", "--status-budget=500ms", "--replicas-ready=false", "--degraded-condition",
		"--repair-loop=false", "--observe-pods", "--pod-selector=a=b", "--start-grace=2m", "--schedule-grace=3m", "--capability-hint", "--leader-elect-namespace=n", "--leader-elect-name=l", "--endpoint-slice=a/b",
		"--advertise-address=2001:db8::1"}, common...)...)
	require.NoError(t, err)
	assert.Equal(t, &statuspatchOptions{commonOptions: wantCommon, DegradedCondition: true, Budget: 500 * time.Millisecond, ObservePods: true,
		PodSelector: "a=b", StartGrace: 2 * time.Minute, ScheduleGrace: 3 * time.Minute, CapabilityHint: true, LeaseNamespace: "n",
		LeaseName: "l", EndpointSlice: namespacedName{Namespace: "a", Name: "b"}, Advertise: "2001:db8::1"}, got.statuspatch)
}

func TestFlagErrorsAreToldAllAtOnce(t *testing.T) {
	t.Setenv("POD_IP", "")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"unknown flags, values that do not parse, values that cannot be right": {
			args: []string{"webhook", "--port=x", "--capabilities=maybe", "--kubeconfi", "foo", "--log-level=99", "-z", "--shutdown-delay=q"},
			want: `there is no flag --kubeconfi; did you mean --kubeconfig?
  and there is no flag -z
  and --port must be a whole number, not "x"
  and --shutdown-delay must be a duration such as 2s or 500ms, not "q"
  and --log-level must be between 0 and 7, not 99
  and --capabilities must be "enforce" or "warn", not "maybe"`},
		"every value of the common flags": {
			args: []string{"webhook", "--cert-dir=", "--port=65536", "--health-probe-bind-address=8081", "--metrics-bind-address=:x",
				"--shutdown-delay=-1s", "--log-format=xml", "--log-level=-1"},
			want: `--cert-dir must name the folder with tls.crt and tls.key
  and --port must be between 0 and 65535, not 65536
  and --health-probe-bind-address must be host:port or :port, or 0 for none, not "8081"
  and --metrics-bind-address must be host:port or :port, or 0 for none, not ":x"
  and --shutdown-delay must not be negative, not -1s
  and --log-format must be "json" or "text", not "xml"
  and --log-level must be between 0 and 7, not -1`},
		"every value about certificates": {
			args: []string{"webhook", "--cert-mode=magic", "--cert-secret=x", "--ca-lifetime=1h", "--cert-lifetime=30m", "--client-allowed-names=x"},
			want: `--cert-secret must be namespace/name, not "x"
  and --cert-mode must be "files" or "self-managed", not "magic"
  and --cert-lifetime must be more than 0s and at most a third of --ca-lifetime, which is 1h0m0s, not 30m0s
  and --client-allowed-names needs --client-ca-file: a name is proven by a certificate`},
		"every value of statuspatch": {
			args: []string{"statuspatch", "--overlay=perhaps", "--endpoint-slice=x", "--status-budget=0s", "--pod-selector=a in",
				"--start-grace=-1s", "--schedule-grace=0s", "--capability-hint", "--leader-elect-namespace=A",
				"--leader-elect-name=", "--advertise-address=here"},
			want: `--overlay must be a truth value (true or false), not "perhaps"
  and --endpoint-slice must be namespace/name, not "x"
  and --status-budget must be more than 0s, not 0s
  and --pod-selector must be a label selector, such as a=b, not "a in"
  and --start-grace must be more than 0s, not -1s
  and --schedule-grace must be more than 0s, not 0s
  and --capability-hint needs --observe-pods: only Pods tell how containers crash
  and --leader-elect-namespace must be the name of a namespace, not "A"
  and --leader-elect-name must be the name of a Lease, not ""
  and --advertise-address must be an IP address, not "here"; it comes from POD_IP if not given`},
		"a slice without an address to write there": {args: []string{"statuspatch", "--endpoint-slice=a/b"},
			want: `--advertise-address must be an IP address, not ""; it comes from POD_IP if not given`},
		"one address for two servers": {args: []string{"webhook", "--metrics-bind-address=:8081"},
			want: `--metrics-bind-address must differ from --health-probe-bind-address, both are ":8081"`},
		"a flag without its value": {args: []string{"webhook", "--port=x", "--kubeconfig"},
			want: "--port must be a whole number, not \"x\"\n  and flag needs an argument: --kubeconfig"},
		"words that are no flags": {args: []string{"webhook", "now", "please"},
			want: `["now" "please"] is not expected: there are flags only`},
		"a flag of the other sub-command": {args: []string{"webhook", "--overlay=false"}, want: "there is no flag --overlay"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := execute(t, tc.args...)
			assert.EqualError(t, err, tc.want)
			assert.True(t, errors.As(err, new(usageError)))
			assert.Equal(t, ran{}, got, "nothing may run")
		})
	}
	_, _, err := execute(t, "webhok")
	assert.ErrorContains(t, err, `unknown command "webhok"`)
}

// The text is for people, and so is the review of a change to it.
func TestHelp(t *testing.T) {
	t.Setenv("POD_IP", "")
	for _, args := range [][]string{{}, {"webhook"}, {"statuspatch"}, {"audit"}} {
		name := "help"
		for _, arg := range args {
			name += "-" + arg
		}
		t.Run(name, func(t *testing.T) {
			got, output, err := execute(t, append(args, "--help")...)
			require.NoError(t, err)
			assert.Equal(t, ran{}, got)
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(output), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run the test with -update")
			assert.Equal(t, string(want), output, "run the test with -update if this is meant")
			assert.NotContains(t, output, "repair-loop", "it is for tests")
		})
	}
}

func TestVersionFlag(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"webhook", "--version"}, {"statuspatch", "--version"}} {
		got, output, err := execute(t, args...)
		require.NoError(t, err)
		assert.Equal(t, "causeway "+versionLine()+"\n", output)
		assert.Equal(t, ran{}, got)
	}
}
