package platform

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// DeploymentName returns the name of a Workload's deployment in a placement at
// a location, by the newer rule of section 2.
func DeploymentName(workload string, uid types.UID, placement, location string) string {
	sum := sha256.Sum256([]byte(string(uid) + "/" + placement + "/" + strings.ToLower(location)))
	prefix := strings.TrimRight(workload[:min(len(workload), 30)], "-")
	return fmt.Sprintf("%s-%x", prefix, sum[:5])
}

// newDeployment returns the deployment of a placement at a location. Replicas
// stays unset: minReplicas counts until somebody scales (section 1.3).
func newDeployment(workload *computeapi.Workload, placement computeapi.Placement, location string) *computeapi.WorkloadDeployment {
	return &computeapi.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: workload.Namespace,
			Name:      DeploymentName(workload.Name, workload.UID, placement.Name, location),
			Labels: map[string]string{
				computeapi.WorkloadUIDLabel: string(workload.UID),
				computeapi.LocationLabel:    location,
				computeapi.ServiceNameLabel: computeapi.ServiceName,
			},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(workload, computeapi.GroupVersion.WithKind("Workload")),
			},
		},
		Spec: computeapi.WorkloadDeploymentSpec{
			WorkloadRef:   computeapi.WorkloadReference{Name: workload.Name, UID: workload.UID},
			PlacementName: placement.Name,
			LocationRef:   &computeapi.LocationReference{Name: location},
			Template:      *workload.Spec.Template.DeepCopy(),
			ScaleSettings: *placement.ScaleSettings.DeepCopy(),
		},
	}
}

// updateDeployment copies what the Workload decides onto a stored deployment
// and tells whether that changed anything. Replicas belong to whoever scales.
func updateDeployment(stored, wanted *computeapi.WorkloadDeployment) bool {
	before := stored.DeepCopy()
	if stored.Labels == nil {
		stored.Labels = map[string]string{}
	}
	maps.Copy(stored.Labels, wanted.Labels)
	stored.Spec.WorkloadRef = wanted.Spec.WorkloadRef
	stored.Spec.Template = wanted.Spec.Template
	stored.Spec.ScaleSettings = wanted.Spec.ScaleSettings
	return !equality.Semantic.DeepEqual(before, stored)
}
