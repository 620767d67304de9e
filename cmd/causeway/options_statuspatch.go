package main

import (
	"net/netip"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// podIPVariable holds the address other replicas' API servers reach this Pod at; deploy/ fills it from the Pod's status.
const podIPVariable = "POD_IP"

// statuspatchOptions are the flags of `causeway statuspatch`.
type statuspatchOptions struct {
	commonOptions
	Overlay       bool
	Budget        time.Duration
	ReplicasReady bool
	RepairLoop    bool
	// DegradedCondition is the one exception to leaving other condition types alone.
	DegradedCondition bool
	ObservePods       bool
	PodSelector       string
	StartGrace        time.Duration
	ScheduleGrace     time.Duration
	// CapabilityHint is off by default because it is no evidence, and hardened manifests invite it.
	CapabilityHint bool
	LeaseNamespace string
	LeaseName      string
	EndpointSlice  namespacedName
	Advertise      string
}

func defaultStatuspatchOptions() *statuspatchOptions {
	return &statuspatchOptions{
		commonOptions: commonOptions{
			certOptions:   defaultCertOptions("causeway-status", "causeway-overlay"),
			Port:          9444,
			ProbeAddress:  ":8083",
			MetricsAddr:   ":8082",
			PprofAddress:  off,
			ShutdownDelay: 0, // leaving the EndpointSlice, below, is what takes this process out of rotation
			LogFormat:     logJSON,
		},
		Overlay:        true,
		Budget:         2 * time.Second,
		ReplicasReady:  true,
		RepairLoop:     true,
		StartGrace:     podstate.DefaultStartGrace,
		ScheduleGrace:  podstate.DefaultScheduleGrace,
		LeaseNamespace: "causeway-system",
		LeaseName:      "causeway-statuspatch",
		Advertise:      os.Getenv(podIPVariable),
	}
}

func (o *statuspatchOptions) addFlags(sets *cliflag.NamedFlagSets) {
	status := sets.FlagSet("status")
	status.BoolVar(&o.Overlay, "overlay", o.Overlay,
		"Keep the platform's own controllers from writing over the reason: answer the webhook on the status of Workloads and WorkloadDeployments.")
	status.DurationVar(&o.Budget, "status-budget", o.Budget,
		"The longest one Instance status write may be held up. What is not done by then the repair loop does.")
	status.BoolVar(&o.ReplicasReady, "replicas-ready", o.ReplicasReady,
		"Correct the condition ReplicasReady of WorkloadDeployments too.")
	status.BoolVar(&o.DegradedCondition, "degraded-condition", o.DegradedCondition,
		"Keep a condition Degraded on Workloads and WorkloadDeployments, True while one is available and partly failing. Set it alike on all planes; without it, what was kept before is removed.")
	status.BoolVar(&o.RepairLoop, "repair-loop", o.RepairLoop, "For diagnosis and tests: false leaves all to the webhooks.")
	_ = status.MarkHidden("repair-loop") // fails only for a flag that does not exist

	pods := sets.FlagSet("pods")
	pods.BoolVar(&o.ObservePods, "observe-pods", o.ObservePods,
		"Watch the Pods behind Instances, and keep the condition Available of an Instance as true as its Pod. Install deploy/components/observe-pods with it.")
	pods.StringVar(&o.PodSelector, "pod-selector", o.PodSelector,
		"Labels of the Pods to watch, as kubectl takes them. Empty watches all, and keeps those that an Instance controls.")
	pods.DurationVar(&o.StartGrace, "start-grace", o.StartGrace,
		"How long a container may fail to start, where that may be a hiccup of its node, before its Instance says so.")
	pods.DurationVar(&o.ScheduleGrace, "schedule-grace", o.ScheduleGrace,
		"How long a Pod may fit on no node before its Instance says so.")
	pods.BoolVar(&o.CapabilityHint, "capability-hint", o.CapabilityHint,
		"Where a Workload is down because containers crash at start-up, have it say which capabilities they lack of those that their runtime class grants by default. That is no evidence, and hardened manifests lack them on purpose. With --observe-pods only; install deploy/components/capability-hint with it.")

	leader := sets.FlagSet("leader election")
	leader.StringVar(&o.LeaseNamespace, "leader-elect-namespace", o.LeaseNamespace,
		"Namespace of the Lease by which one process is active and the others stand by. It is always in use.")
	leader.StringVar(&o.LeaseName, "leader-elect-name", o.LeaseName, "Name of that Lease.")
	leader.Var(&o.EndpointSlice, "endpoint-slice",
		"The EndpointSlice, as namespace/name, into which the active process writes its address. Without it none is kept, and a balancer on /activez has to find the active process.")
	leader.StringVar(&o.Advertise, "advertise-address", o.Advertise,
		"The IP address written there. The default is the environment variable "+podIPVariable+".")

	o.commonOptions.addFlags(sets)
}

func (o *statuspatchOptions) validate() []error {
	errs := o.commonOptions.validate()
	if o.Budget <= 0 {
		errs = append(errs, flagError("status-budget", "must be more than 0s, not %s", o.Budget))
	}
	if _, err := labels.Parse(o.PodSelector); err != nil {
		errs = append(errs, flagError("pod-selector", "must be a label selector, such as a=b, not %q", o.PodSelector))
	}
	if o.StartGrace <= 0 {
		errs = append(errs, flagError("start-grace", "must be more than 0s, not %s", o.StartGrace))
	}
	if o.ScheduleGrace <= 0 {
		errs = append(errs, flagError("schedule-grace", "must be more than 0s, not %s", o.ScheduleGrace))
	}
	if o.CapabilityHint && !o.ObservePods {
		errs = append(errs, flagError("capability-hint", "needs --observe-pods: only Pods tell how containers crash"))
	}
	if len(validation.IsDNS1123Label(o.LeaseNamespace)) > 0 {
		errs = append(errs, flagError("leader-elect-namespace", "must be the name of a namespace, not %q", o.LeaseNamespace))
	}
	if len(validation.IsDNS1123Subdomain(o.LeaseName)) > 0 {
		errs = append(errs, flagError("leader-elect-name", "must be the name of a Lease, not %q", o.LeaseName))
	}
	if _, err := netip.ParseAddr(o.Advertise); err != nil && (o.Advertise != "" || o.EndpointSlice.set()) {
		errs = append(errs, flagError("advertise-address", "must be an IP address, not %q; it comes from %s if not given", o.Advertise, podIPVariable))
	}
	return errs
}

// namespacedName is a flag value like causeway-system/causeway-status.
type namespacedName types.NamespacedName

func (n *namespacedName) set() bool { return *n != namespacedName{} }

func (n *namespacedName) String() string {
	if !n.set() {
		return ""
	}
	return types.NamespacedName(*n).String()
}

func (n *namespacedName) Type() string { return "namespace/name" }

func (n *namespacedName) Set(s string) error {
	namespace, name, ok := strings.Cut(s, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return errNotNamespacedName
	}
	*n = namespacedName{Namespace: namespace, Name: name}
	return nil
}
