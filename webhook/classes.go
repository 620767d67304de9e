package webhook

import (
	"cmp"
	"slices"
)

// Classes is what one read of the RuntimeClasses said. It is never changed
// once made, so reviews share it.
type Classes struct {
	byName   []class // sorted by name
	defaults []string
}

// class is one RuntimeClass as the rules see it.
type class struct {
	name string
	// feature tells whether the class has FeatureContainerCapabilities;
	// without it grants is empty whatever the class lists.
	feature bool
	grants  []string // sorted
	// granted lists them as messages do.
	granted string
	// defaultAdds is what a container gets that states no capabilities.
	defaultAdds []string // sorted
}

// NewClasses returns the classes of a list, in any order. It keeps nothing of
// the list.
func NewClasses(list []RuntimeClass) *Classes {
	c := &Classes{byName: make([]class, 0, len(list))}
	for i := range list {
		c.byName = append(c.byName, newClass(&list[i]))
		if list[i].Spec.Default {
			c.defaults = append(c.defaults, list[i].Name)
		}
	}
	slices.SortFunc(c.byName, func(a, b class) int { return cmp.Compare(a.name, b.name) })
	slices.Sort(c.defaults)
	return c
}

func newClass(rc *RuntimeClass) class {
	c := class{
		name:    rc.Name,
		feature: slices.Contains(rc.Spec.Capabilities.Features, FeatureContainerCapabilities),
	}
	if c.feature {
		c.grants = slices.Sorted(slices.Values(rc.Spec.Capabilities.GrantableCapabilities))
	}
	c.granted = "none"
	if len(c.grants) > 0 {
		c.granted = listed(bareAll(c.grants))
	}
	if def := rc.Spec.DefaultSecurityContext; def != nil && def.Capabilities != nil {
		c.defaultAdds = slices.Sorted(slices.Values(def.Capabilities.Add))
	}
	return c
}

// resolve returns the name an empty class stands for: that of the default
// class, or still empty where there is not exactly one. Any other name it
// returns as it is.
func (c *Classes) resolve(name string) string {
	if name == "" && len(c.defaults) == 1 {
		return c.defaults[0]
	}
	return name
}

// find returns the class of a resolved name, nil if there is none.
func (c *Classes) find(name string) *class {
	i, ok := slices.BinarySearchFunc(c.byName, name, func(c class, n string) int { return cmp.Compare(c.name, n) })
	if !ok || name == "" {
		return nil
	}
	return &c.byName[i]
}

// DefaultGrants returns the class that a name stands for and what it grants to a
// container that states no capabilities: of its default adds those that it
// grants at all, sorted. There are none where there is no such class.
func (c *Classes) DefaultGrants(name string) (class string, capabilities []string) {
	class = c.resolve(name)
	found := c.find(class)
	if found == nil {
		return class, nil
	}
	for _, n := range found.defaultAdds {
		if found.grantsName(n) {
			capabilities = append(capabilities, n)
		}
	}
	return class, capabilities
}

// names returns the name of every class, sorted.
func (c *Classes) names() []string {
	out := make([]string, len(c.byName))
	for i := range c.byName {
		out[i] = c.byName[i].name
	}
	return out
}

// grantsName tells whether the class grants a capability by its exact name.
// ALL is no capability, even for a class that lists it.
func (c *class) grantsName(name string) bool {
	_, ok := slices.BinarySearch(c.grants, name)
	return ok && name != capabilityAll
}

// granting returns the first class by name that grants all of the names, nil if
// there is none.
func (c *Classes) granting(names []string) *class {
	for i := range c.byName {
		missing := func(n string) bool { return !c.byName[i].grantsName(n) }
		if !slices.ContainsFunc(names, missing) {
			return &c.byName[i]
		}
	}
	return nil
}
