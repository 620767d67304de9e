package webhook

import "slices"

// reason tells why a capability that would be refused may stay.
type reason int

const (
	notKept reason = iota
	// keptStored: the stored object adds it to the container of this name.
	keptStored
	// keptOwner: the owner adds it to the container of this name.
	keptOwner
)

// ratchet lets an object that was once let through change in other ways, and
// lets it have the children it was let through for, while nothing that would be
// refused may join it. It compares pairs of container name and capability, as
// written, and only under one class: a class that the author changes is judged
// afresh.
type ratchet struct {
	stored, owner containersByName
}

func newRatchet(c *Case) ratchet {
	sameClass := func(r *Runtime) containersByName {
		if r == nil || c.Classes.resolve(r.Class) != c.Classes.resolve(c.Runtime.Class) {
			return containersByName{}
		}
		return containersByName{runtime: r}
	}
	return ratchet{stored: sameClass(c.Stored), owner: sameClass(c.Owner)}
}

// kept tells whether the container may keep what it adds as name. What the
// stored object adds and drops at once was never in force, so it may not come
// into force by losing the drop.
func (r *ratchet) kept(container, name string) reason {
	if slices.ContainsFunc(r.stored.get(container), func(c *Container) bool {
		return slices.Contains(c.adds(), name) && !c.drops(name)
	}) {
		return keptStored
	}
	if slices.ContainsFunc(r.owner.get(container), func(c *Container) bool {
		return slices.Contains(c.adds(), name)
	}) {
		return keptOwner
	}
	return notKept
}

// containersByName finds containers by name. Its index is made when it is first
// asked, which it is only about what would be refused.
type containersByName struct {
	runtime *Runtime // nil for no containers
	index   map[string][]*Container
}

func (b *containersByName) get(name string) []*Container {
	if b.index == nil {
		b.index = map[string][]*Container{}
		containers := b.runtime.containers()
		for i := range containers {
			c := &containers[i]
			b.index[c.Name] = append(b.index[c.Name], c)
		}
	}
	return b.index[name]
}
