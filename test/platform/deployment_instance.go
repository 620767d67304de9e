package platform

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// InstanceName returns the name of a deployment's Instance (section 2).
func InstanceName(deployment string, ordinal int) string {
	return deployment + "-" + strconv.Itoa(ordinal)
}

// templateHash is a 32-bit FNV hash of the whole template (section 2).
func templateHash(template computeapi.InstanceTemplate) string {
	encoded, err := json.Marshal(template)
	if err != nil {
		panic(fmt.Sprintf("encoding a template that was decoded: %v", err))
	}
	sum := fnv.New32a()
	sum.Write(encoded)
	return strconv.FormatUint(uint64(sum.Sum32()), 10)
}

// newInstance returns a deployment's Instance with its gates up (section 2).
func newInstance(deployment *computeapi.WorkloadDeployment, ordinal int, networking bool) *computeapi.Instance {
	template := deployment.Spec.Template.DeepCopy()
	instance := &computeapi.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   deployment.Namespace,
			Name:        InstanceName(deployment.Name, ordinal),
			Annotations: template.Metadata.Annotations,
			Labels:      map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(ordinal)},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, computeapi.GroupVersion.WithKind("WorkloadDeployment")),
			},
		},
		Spec: template.Spec,
	}
	stampLabels(instance, deployment)

	location := locationOf(deployment)
	instance.Spec.Location = &location
	control := &computeapi.InstanceSpecControl{TemplateHash: templateHash(deployment.Spec.Template)}
	gate := func(name string) {
		control.SchedulingGates = append(control.SchedulingGates, computeapi.SchedulingGate{Name: name})
	}
	if networking {
		gate(computeapi.NetworkGate)
	}
	gate(computeapi.QuotaGate)
	if referencesData(instance.Spec) {
		gate(computeapi.ReferencedDataGate)
	}
	instance.Spec.Controller = control
	return instance
}

// stampLabels puts the template's and the identity labels on an Instance. The
// controller does so on every pass.
func stampLabels(instance *computeapi.Instance, deployment *computeapi.WorkloadDeployment) {
	if instance.Labels == nil {
		instance.Labels = map[string]string{}
	}
	maps.Copy(instance.Labels, deployment.Spec.Template.Metadata.Labels)
	maps.Copy(instance.Labels, map[string]string{
		computeapi.WorkloadUIDLabel:            string(deployment.Spec.WorkloadRef.UID),
		computeapi.WorkloadNameLabel:           deployment.Spec.WorkloadRef.Name,
		computeapi.WorkloadDeploymentUIDLabel:  string(deployment.UID),
		computeapi.WorkloadDeploymentNameLabel: deployment.Name,
		computeapi.PlacementNameLabel:          deployment.Spec.PlacementName,
		computeapi.LocationLabel:               locationOf(deployment).Name,
		computeapi.ServiceNameLabel:            computeapi.ServiceName,
	})
	if class := deployment.Spec.Template.Spec.Runtime.Class; class != "" {
		instance.Labels[computeapi.RuntimeClassLabel] = class
	}
}

// referencesData tells whether an Instance needs ConfigMaps or Secrets.
func referencesData(spec computeapi.InstanceSpec) bool {
	for _, volume := range spec.Volumes {
		if volume.ConfigMap != nil || volume.Secret != nil {
			return true
		}
	}
	if spec.Runtime.Sandbox == nil {
		return false
	}
	for _, container := range spec.Runtime.Sandbox.Containers {
		if len(container.EnvFrom) > 0 {
			return true
		}
		for _, env := range container.Env {
			if from := env.ValueFrom; from != nil && (from.ConfigMapKeyRef != nil || from.SecretKeyRef != nil) {
				return true
			}
		}
	}
	return false
}

// removeGate takes a scheduling gate off an Instance.
func removeGate(instance *computeapi.Instance, name string) {
	if control := instance.Spec.Controller; control != nil {
		control.SchedulingGates = slices.DeleteFunc(control.SchedulingGates,
			func(gate computeapi.SchedulingGate) bool { return gate.Name == name })
	}
}
