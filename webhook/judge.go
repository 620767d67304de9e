package webhook

import (
	"slices"
	"strconv"
)

// judge asks the rules about one case, entry by entry, and gathers what they
// say.
type judge struct {
	c       *Case
	name    string // the resolved class
	class   *class // nil where it cannot be told
	ratchet ratchet

	refused []Finding
	// unresolved is set by an entry that only a class could have let through.
	unresolved bool
	warnings   []string
	kept       int
	// alternative is part of messages, the same for every entry and made when
	// first needed.
	alternative string
}

func newJudge(c *Case) *judge {
	name := c.Classes.resolve(c.Runtime.Class)
	return &judge{c: c, name: name, class: c.Classes.find(name), ratchet: newRatchet(c)}
}

// container judges the i-th container.
func (j *judge) container(i int) {
	ctr := &j.c.Runtime.containers()[i]
	first := len(j.refused)
	featureSaid := false
	var kept map[reason][]string
	at := "" // the path of the list, made when first needed
	for k, written := range ctr.adds() {
		rule, ok := j.entry(written)
		if ok {
			continue
		}
		if why := j.ratchet.kept(ctr.Name, written); why != notKept {
			if kept == nil {
				kept = map[reason][]string{}
			}
			kept[why] = append(kept[why], written)
			j.kept++
			continue
		}
		j.unresolved = j.unresolved || j.class == nil
		f := Finding{Rule: rule, Class: j.name, Container: ctr.Name, Capability: written}
		if at == "" {
			at = indexed(j.c.Path.String()+".sandbox.containers", i) + ".securityContext.capabilities.add"
		}
		switch rule {
		case RuleAll:
			f.Err = refuseAll(indexed(at, k))
		case RuleSpelling:
			f.Err = refuseSpelling(written, indexed(at, k))
		case RuleGrant:
			f.Err = refuseGrant(j.class, written, j.instead(), indexed(at, k))
		case RuleFeature:
			if !featureSaid {
				// Its path is the shortest, so it comes before those of entries.
				f.Capability, f.Err = "", refuseFeature(j.class, j.instead(), at)
				j.refused = slices.Insert(j.refused, first, f)
			}
			featureSaid = true
			continue
		case RuleClass: // said once for the object
			continue
		}
		j.refused = append(j.refused, f)
	}
	if kept != nil {
		j.warnings = append(j.warnings, keepWarnings(ctr.Name, j.class, kept)...)
	}
}

// entry names the first rule against a capability, as written. The order is
// that of what helps its author most: ALL is refused whatever the class, a
// class that does not grant the capability comes before its spelling.
func (j *judge) entry(written string) (against Rule, ok bool) {
	name := Canonical(written)
	switch {
	case name == capabilityAll:
		return RuleAll, false
	case j.class == nil && name != written:
		return RuleSpelling, false
	case j.class == nil:
		return RuleClass, false
	case !j.class.feature:
		return RuleFeature, false
	case name == "": // nothing is left of it, so no class can be asked for it
		return RuleSpelling, false
	case !j.class.grantsName(name):
		return RuleGrant, false
	case name != written:
		return RuleSpelling, false
	}
	return "", true
}

func (j *judge) instead() string {
	if j.alternative == "" {
		j.alternative = alternative(j.c.Classes, j.c.Runtime)
	}
	return j.alternative
}

func (j *judge) refuses() bool { return j.unresolved || len(j.refused) > 0 }

// findings returns the causes of a refusal, the class before the containers as
// their paths are sorted.
func (j *judge) findings() []Finding {
	if !j.unresolved {
		return j.refused
	}
	err := refuseClass(j.c.Classes, j.c.Runtime.Class, j.c.Path.Child("class").String())
	return append([]Finding{{Rule: RuleClass, Class: j.name, Err: err}}, j.refused...)
}

// indexed is the path of an entry of a list. A field.Path is made anew for each
// entry and walked up again to be shown.
func indexed(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
