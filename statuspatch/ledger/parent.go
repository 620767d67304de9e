package ledger

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Kind is one of the two kinds whose status Causeway rolls up.
type Kind uint8

const (
	// KindDeployment is a WorkloadDeployment.
	KindDeployment Kind = iota + 1
	// KindWorkload is a Workload.
	KindWorkload
)

// String is the kind as the API spells it.
func (k Kind) String() string {
	switch k {
	case KindDeployment:
		return "WorkloadDeployment"
	case KindWorkload:
		return "Workload"
	default:
		return "Unknown"
	}
}

// Parent names one WorkloadDeployment or Workload. The zero value names none.
type Parent struct {
	Kind      Kind
	Namespace string
	Name      string
	UID       types.UID
}

// IsZero tells that no parent is named.
func (p Parent) IsZero() bool { return p == Parent{} }

// GetNamespace and GetName make a Parent fit for klog.KObj.
func (p Parent) GetNamespace() string { return p.Namespace }

// GetName is the parent's name.
func (p Parent) GetName() string { return p.Name }

// Newer tells whether resourceVersion a is newer than b. Anything is newer than
// none; what is no version is never newer, so that odd input cannot displace
// what the API server said.
func Newer(a, b string) bool {
	if b == "" {
		return a != ""
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
