package webhook

import (
	"slices"
	"strings"
)

// capabilityAll is the name that stands for every capability.
const capabilityAll = "ALL"

const capPrefix = "CAP_"

// Canonical returns the name that a runtime would act on: upper case, without
// outer spaces and without the CAP_ prefix, however often it stands there.
//
// containerd prefixes the upper case of whatever it is given with CAP_, CRI-O
// keeps a name that already has the prefix, and both know ALL in any case. So
// spellings that differ only in this are one capability, and a check that
// compared them as they stand would be passed by writing them oddly.
//
// Canonical of its own result is that result.
func Canonical(name string) string {
	name = strings.ToUpper(name)
	for {
		bare := strings.TrimPrefix(strings.TrimSpace(name), capPrefix)
		if bare == name {
			return name
		}
		name = bare
	}
}

// adds returns what the container adds, as written.
func (c *Container) adds() []string {
	if c.SecurityContext == nil || c.SecurityContext.Capabilities == nil {
		return nil
	}
	return c.SecurityContext.Capabilities.Add
}

// drops tells whether name itself stands among what the container drops. It is
// compared as written and ALL covers nothing else: providers build
// `drop: [ALL]` plus every add that is not literally dropped as well.
func (c *Container) drops(name string) bool {
	return c.SecurityContext != nil && c.SecurityContext.Capabilities != nil &&
		slices.Contains(c.SecurityContext.Capabilities.Drop, name)
}

// containers returns the containers of a sandbox; a virtual machine has none.
func (r *Runtime) containers() []Container {
	if r == nil || r.Sandbox == nil {
		return nil
	}
	return r.Sandbox.Containers
}

// addsAny tells whether there is anything to judge.
func (r *Runtime) addsAny() bool {
	return slices.ContainsFunc(r.containers(), func(c Container) bool { return len(c.adds()) > 0 })
}
