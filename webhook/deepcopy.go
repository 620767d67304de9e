package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Copies share no memory with what they were copied from: informers hand out
// objects that their readers may keep.

// DeepCopy returns a copy of w; nil for nil.
func (w *Workload) DeepCopy() *Workload {
	if w == nil {
		return nil
	}
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec.Template.Spec.Runtime = w.Spec.Template.Spec.Runtime.copied()
	return &out
}

// DeepCopyObject is DeepCopy as a runtime.Object.
func (w *Workload) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopy returns a copy of d; nil for nil.
func (d *WorkloadDeployment) DeepCopy() *WorkloadDeployment {
	if d == nil {
		return nil
	}
	out := *d
	out.ObjectMeta = *d.ObjectMeta.DeepCopy()
	out.Spec.Template.Spec.Runtime = d.Spec.Template.Spec.Runtime.copied()
	return &out
}

// DeepCopyObject is DeepCopy as a runtime.Object.
func (d *WorkloadDeployment) DeepCopyObject() runtime.Object { return d.DeepCopy() }

// DeepCopy returns a copy of i; nil for nil.
func (i *Instance) DeepCopy() *Instance {
	if i == nil {
		return nil
	}
	out := *i
	out.ObjectMeta = *i.ObjectMeta.DeepCopy()
	out.Spec.Runtime = i.Spec.Runtime.copied()
	return &out
}

// DeepCopyObject is DeepCopy as a runtime.Object.
func (i *Instance) DeepCopyObject() runtime.Object { return i.DeepCopy() }

// DeepCopy returns a copy of c; nil for nil.
func (c *RuntimeClass) DeepCopy() *RuntimeClass {
	if c == nil {
		return nil
	}
	out := *c
	out.ObjectMeta = *c.ObjectMeta.DeepCopy()
	out.Spec.Capabilities.Features = slices.Clone(c.Spec.Capabilities.Features)
	out.Spec.Capabilities.GrantableCapabilities = slices.Clone(c.Spec.Capabilities.GrantableCapabilities)
	if def := c.Spec.DefaultSecurityContext; def != nil {
		out.Spec.DefaultSecurityContext = &DefaultSecurityContext{Capabilities: def.Capabilities.copied()}
	}
	return &out
}

// DeepCopyObject is DeepCopy as a runtime.Object.
func (c *RuntimeClass) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// DeepCopyObject returns a copy of l.
func (l *WorkloadList) DeepCopyObject() runtime.Object {
	return &WorkloadList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copies(l.Items, (*Workload).DeepCopy)}
}

// DeepCopyObject returns a copy of l.
func (l *WorkloadDeploymentList) DeepCopyObject() runtime.Object {
	return &WorkloadDeploymentList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copies(l.Items, (*WorkloadDeployment).DeepCopy)}
}

// DeepCopyObject returns a copy of l.
func (l *InstanceList) DeepCopyObject() runtime.Object {
	return &InstanceList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copies(l.Items, (*Instance).DeepCopy)}
}

// DeepCopyObject returns a copy of l.
func (l *RuntimeClassList) DeepCopyObject() runtime.Object {
	return &RuntimeClassList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copies(l.Items, (*RuntimeClass).DeepCopy)}
}

var (
	_ client.Object     = (*Workload)(nil)
	_ client.Object     = (*WorkloadDeployment)(nil)
	_ client.Object     = (*Instance)(nil)
	_ client.Object     = (*RuntimeClass)(nil)
	_ client.ObjectList = (*WorkloadList)(nil)
	_ client.ObjectList = (*WorkloadDeploymentList)(nil)
	_ client.ObjectList = (*InstanceList)(nil)
	_ client.ObjectList = (*RuntimeClassList)(nil)
)

// copies keeps nil as nil, so that an empty list is encoded as it was.
func copies[T any](in []T, deepCopy func(*T) *T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		out[i] = *deepCopy(&in[i])
	}
	return out
}

func (r Runtime) copied() Runtime {
	if r.Sandbox == nil {
		return r
	}
	containers := slices.Clone(r.Sandbox.Containers)
	for i, c := range containers {
		if c.SecurityContext != nil {
			containers[i].SecurityContext = &SecurityContext{Capabilities: c.SecurityContext.Capabilities.copied()}
		}
	}
	r.Sandbox = &Sandbox{Containers: containers}
	return r
}

func (c *Capabilities) copied() *Capabilities {
	if c == nil {
		return nil
	}
	return &Capabilities{Add: slices.Clone(c.Add), Drop: slices.Clone(c.Drop)}
}
