package rollup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// Lack is one container that crashes at start-up and runs without capabilities
// that its class grants by default. It is comparable with ==.
type Lack struct {
	Class, Container string
	// Capabilities are their names, joined by ListCapabilities.
	Capabilities string
}

const (
	// maxHintLines bounds the lines of a hint: containers that lack the same of
	// the same class share one.
	maxHintLines = 3
	// maxHintContainers and maxHintCapabilities bound what a line names.
	maxHintContainers   = 5
	maxHintCapabilities = 12

	hintGrants = " currently grants by default: "
	hintEnd    = "If the image needs one, add it to the container's capabilities. " +
		"This is not evidence that capabilities caused the crash."

	capabilitySeparator = ", "
)

// ListCapabilities makes a Lack's Capabilities of names in any order. What no
// kernel can know by that name is left out.
func ListCapabilities(names []string) string {
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isCapability(name) })
	slices.Sort(kept)
	return strings.Join(slices.Compact(kept), capabilitySeparator)
}

func isCapability(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// hint is the last sentence of a Workload that is down because of crashes: what
// containers run without, and that this proves nothing. Empty without any.
func hint(lacks []Lack) string {
	type line struct{ class, capabilities string }
	containers := map[line][]string{}
	for _, l := range lacks {
		if l.Capabilities != "" {
			at := line{l.Class, l.Capabilities}
			containers[at] = append(containers[at], l.Container)
		}
	}
	lines := make([]line, 0, len(containers))
	for at, names := range containers {
		slices.Sort(names)
		containers[at] = slices.Compact(names)
		lines = append(lines, at)
	}
	if len(lines) == 0 {
		return ""
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(
			slices.Compare(containers[a], containers[b]),
			strings.Compare(a.class, b.class),
			strings.Compare(a.capabilities, b.capabilities),
		)
	})
	var b strings.Builder
	for _, at := range lines[:min(len(lines), maxHintLines)] {
		b.WriteString(hintSubject(containers[at]) + quoted(at.class) + hintGrants +
			few(strings.Split(at.capabilities, capabilitySeparator)) + ". ")
	}
	return b.String() + hintEnd
}

// hintSubject is a line up to the name of the class.
func hintSubject(containers []string) string {
	if len(containers) == 1 {
		return "Container " + quoted(containers[0]) + hintRuns(1)
	}
	var named []string
	for _, name := range containers[:min(len(containers), maxHintContainers)] {
		named = append(named, quoted(name))
	}
	last := strconv.Itoa(len(containers)-len(named)) + " more"
	if len(named) == len(containers) {
		last = named[len(named)-1]
		named = named[:len(named)-1]
	}
	return "Containers " + strings.Join(named, ", ") + " and " + last + hintRuns(len(containers))
}

func hintRuns(n int) string {
	verb := " run"
	if n == 1 {
		verb = " runs"
	}
	return verb + " without capabilities that runtime class "
}

// few is a list of capabilities that counts what is too many.
func few(names []string) string {
	if len(names) <= maxHintCapabilities {
		return strings.Join(names, capabilitySeparator)
	}
	return strings.Join(names[:maxHintCapabilities], capabilitySeparator) + " and " +
		strconv.Itoa(len(names)-maxHintCapabilities) + " more"
}

// hinted is a verdict on a Workload with the hint that goes with it. It speaks
// of crashes, so it stands only where they are the reason.
func hinted(v Verdict, hint string) Verdict {
	if hint != "" && v.Status == metav1.ConditionFalse && v.Reason == reason.InstanceCrashing {
		v.Message += " " + hint
	}
	return v
}

// KeepHint is the verdict with the hint of the stored condition, for those who
// see no Pods and so cannot tell whether it still holds.
func KeepHint(v Verdict, stored *metav1.Condition) Verdict {
	if stored == nil || stored.Status != metav1.ConditionFalse || stored.Reason != v.Reason {
		return v
	}
	s, _ := Parse(stored.Reason, stored.Message)
	return hinted(v, s.Hint)
}
