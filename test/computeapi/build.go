package computeapi

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A WorkloadTweak changes one thing of a minimal valid Workload.
//
// +kubebuilder:object:generate=false
type WorkloadTweak func(*Workload)

// NewWorkload returns a Workload with one container, "app", on the network
// "default". Unless a tweak says otherwise it has one placement, "main", of one
// Instance at the location "us", and no runtime class.
func NewWorkload(namespace, name string, tweaks ...WorkloadTweak) *Workload {
	w := &Workload{
		TypeMeta:   metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: WorkloadSpec{Template: InstanceTemplate{Spec: InstanceSpec{
			Runtime: InstanceRuntime{
				Resources: InstanceResources{InstanceType: "datumcloud/d1-standard-2"},
				Sandbox:   &Sandbox{Containers: []Container{{Name: "app", Image: "registry.example/app:1"}}},
			},
			NetworkInterfaces: []NetworkInterface{{Name: "eth0", Network: NetworkReference{Name: "default"}}},
		}}},
	}
	for _, tweak := range tweaks {
		tweak(w)
	}
	if len(w.Spec.Placements) == 0 {
		WithPlacement("main", 1, "us")(w)
	}
	return w
}

// WithPlacement adds a placement of that many Instances at each location.
func WithPlacement(name string, replicas int32, locations ...string) WorkloadTweak {
	return func(w *Workload) {
		placement := Placement{Name: name, ScaleSettings: ScaleSettings{
			MinReplicas: replicas, InstanceManagementPolicy: "OrderedReady",
		}}
		for _, location := range locations {
			placement.Locations = append(placement.Locations, LocationReference{Name: location})
		}
		w.Spec.Placements = append(w.Spec.Placements, placement)
	}
}

// WithClass names the runtime class.
func WithClass(class string) WorkloadTweak {
	return func(w *Workload) { w.Spec.Template.Spec.Runtime.Class = class }
}

// WithImage sets the image of the first container.
func WithImage(image string) WorkloadTweak {
	return func(w *Workload) { w.container(0).Image = image }
}

// WithContainer adds a container.
func WithContainer(name, image string) WorkloadTweak {
	return func(w *Workload) {
		sandbox := w.Spec.Template.Spec.Runtime.Sandbox
		sandbox.Containers = append(sandbox.Containers, Container{Name: name, Image: image})
	}
}

// WithAdd lets the first container add capabilities.
func WithAdd(capabilities ...string) WorkloadTweak {
	return func(w *Workload) {
		c := w.capabilities(0)
		c.Add = append(c.Add, capabilities...)
	}
}

// WithDrop lets the first container drop capabilities.
func WithDrop(capabilities ...string) WorkloadTweak {
	return func(w *Workload) {
		c := w.capabilities(0)
		c.Drop = append(c.Drop, capabilities...)
	}
}

// WithConfigMap attaches a ConfigMap, so that Instances need referenced data.
func WithConfigMap(name string) WorkloadTweak {
	return func(w *Workload) {
		w.Spec.Template.Spec.Volumes = append(w.Spec.Template.Spec.Volumes, Volume{
			Name:      name,
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		})
	}
}

// WithNetwork names the network of the only interface.
func WithNetwork(name string) WorkloadTweak {
	return func(w *Workload) { w.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = name }
}

func (w *Workload) container(i int) *Container {
	return &w.Spec.Template.Spec.Runtime.Sandbox.Containers[i]
}

func (w *Workload) capabilities(i int) *Capabilities {
	container := w.container(i)
	if container.SecurityContext == nil {
		container.SecurityContext = &SecurityContext{}
	}
	if container.SecurityContext.Capabilities == nil {
		container.SecurityContext.Capabilities = &Capabilities{}
	}
	return container.SecurityContext.Capabilities
}
