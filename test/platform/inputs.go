package platform

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Answers of the quota service (section 3.2). Message texts are illustrative.
var (
	QuotaAvailable = Verdict{metav1.ConditionTrue, "QuotaAvailable", "Quota is available"}
	QuotaPending   = Verdict{metav1.ConditionUnknown, "PendingEvaluation", "Waiting for quota evaluation"}
	QuotaNoBudget  = Verdict{metav1.ConditionUnknown, "QuotaNoBudget", "ResourceClaim is pending: no AllowanceBucket configured for this project"}
	QuotaExceeded  = Verdict{metav1.ConditionFalse, "QuotaExceeded", "Quota exceeded"}
)

// Answers about referenced data (section 3.2).
var (
	DataReady     = Verdict{metav1.ConditionTrue, "Ready", "All 1 referenced companion(s) are present on cell"}
	DataResolving = Verdict{metav1.ConditionUnknown, "Resolving", "Resolving referenced data"}
	DataAwaiting  = Verdict{metav1.ConditionFalse, "AwaitingPropagation", "Waiting for 1 companion(s) to arrive on cell: ConfigMap/app-config"}
	DataMissing   = Verdict{metav1.ConditionFalse, "SourceNotFound", `ConfigMap "app-config" not found in namespace "default"`}
)

// Network is the state of an Instance's network. Any other value than the two
// below is the text of a failure, as in `Interface "eth0": <reason>: <text>`.
type Network string

const (
	NetworkReady   Network = "ready"
	NetworkPending Network = "pending"
)

// NetworkFailed is a network that could not be made.
func NetworkFailed(nic, reason, text string) Network {
	return Network(strings.Join([]string{`Interface "` + nic + `"`, reason, text}, ": "))
}

// failure is why the network could not be made, or empty.
func (n Network) failure() string {
	if n == NetworkReady || n == NetworkPending {
		return ""
	}
	return string(n)
}

// Why a deployment's location cannot be resolved (section 3.4).
var (
	NoMatchingLocation       = Verdict{metav1.ConditionFalse, "NoMatchingLocation", "The cell was not told which location it serves"}
	LocationMismatch         = Verdict{metav1.ConditionFalse, "LocationMismatch", "The deployment asks for another location than the cell serves"}
	AmbiguousServingLocation = Verdict{metav1.ConditionFalse, "AmbiguousServingLocation", "The cell was given more than one location to serve"}
)
