package reason

import (
	"cmp"
	"strings"
)

// entry is a row and its place in the table.
type entry struct {
	*row
	order int
}

// index finds a row by its name and by each of its aliases.
var index = buildIndex(table)

func buildIndex(rows []row) map[string]entry {
	idx := make(map[string]entry, 2*len(rows))
	for i := range rows {
		e := entry{row: &rows[i], order: i}
		idx[e.name] = e
		for _, alias := range e.aliases {
			idx[alias] = e
		}
	}
	return idx
}

// Canonical returns the table's name for a reason, and the reason itself where
// the table does not know it.
func Canonical(reason string) string {
	if e, ok := index[reason]; ok {
		return e.name
	}
	return reason
}

// Known tells whether the table has the reason, by name or by an alias.
func Known(reason string) bool {
	_, ok := index[reason]
	return ok
}

// RankOf returns the rank of a reason, and Unknown where the table does not
// know it.
func RankOf(reason string) Rank {
	if e, ok := index[reason]; ok {
		return e.rank
	}
	return Unknown
}

// IsProgress tells whether the reason only says that something is on its way.
func IsProgress(reason string) bool { return RankOf(reason) == Progress }

// Compare is the total order of preference: negative where a is told before b,
// zero where they are the same reason. Ranks descend; within a rank the table's
// order holds, and among reasons of rank Unknown the name.
func Compare(a, b string) int {
	ea, knownA := index[a]
	eb, knownB := index[b]
	if knownA && knownB && ea.order == eb.order {
		return 0
	}
	ra, rb := Unknown, Unknown
	if knownA {
		ra = ea.rank
	}
	if knownB {
		rb = eb.rank
	}
	switch {
	case ra != rb:
		return cmp.Compare(rb, ra)
	case ra == Unknown:
		return strings.Compare(Canonical(a), Canonical(b))
	default:
		return cmp.Compare(ea.order, eb.order)
	}
}

// DeploymentBase tells whether a WorkloadDeployment's own controller says the
// reason knowing something the Instances cannot tell. That is also assumed of
// every reason the table does not know.
func DeploymentBase(reason string) bool { return saidBy(reason, deploymentBase) }

// WorkloadBase is DeploymentBase for the controller of Workloads, and for the
// conditions of their placements, which it writes too.
func WorkloadBase(reason string) bool { return saidBy(reason, workloadBase) }

func saidBy(reason string, who base) bool {
	e, ok := index[reason]
	return !ok || e.base&who != 0
}

// Phrase continues "N of M instances" for n Instances with the reason:
// "is suspended", "are suspended". It has no closing stop.
func Phrase(reason string, n int) string {
	e, ok := index[reason]
	switch {
	case !ok || e.one == "":
		return UnknownPhrase(Canonical(reason), n)
	case n == 1:
		return e.one
	default:
		return e.several
	}
}

// UnknownPhrase is the Phrase of a reason the table has no words for.
func UnknownPhrase(reason string, n int) string {
	if n == 1 {
		return "is not running (" + reason + ")"
	}
	return "are not running (" + reason + ")"
}

// IsStock tells whether a message adds nothing to the phrase of its reason: it
// is empty, or one of the sentences that writers use for every such case.
// Outer spaces and a closing stop are ignored.
func IsStock(reason, message string) bool {
	message = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(message), "."))
	if message == "" {
		return true
	}
	for _, stock := range index[reason].stockSentences() {
		if message == stock {
			return true
		}
	}
	return false
}

// stockSentences is safe on the entry of a reason that the table lacks.
func (e entry) stockSentences() []string {
	if e.row == nil {
		return nil
	}
	return e.stock
}

// phrases are all phrases of the table, for one Instance and for several.
var phrases = buildPhrases(table)

func buildPhrases(rows []row) (sets [2]map[string]bool) {
	sets = [2]map[string]bool{{}, {}}
	for _, r := range rows {
		if r.one != "" {
			sets[0][r.one], sets[1][r.several] = true, true
		}
	}
	return sets
}

// IsPhrase tells whether Phrase gives the text for n Instances with some
// reason.
func IsPhrase(text string, n int) bool {
	set := phrases[1]
	if n == 1 {
		set = phrases[0]
	}
	if set[text] {
		return true
	}
	_, inner, ok := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	return ok && closed && Valid(inner) && text == UnknownPhrase(inner, n)
}

// Names lists every reason that the table knows, without aliases, in its order.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].name
	}
	return names
}

// OfRank lists every reason of a rank that the table knows, aliases included,
// in the table's order.
func OfRank(rank Rank) []string {
	var names []string
	for _, r := range table {
		if r.rank == rank {
			names = append(append(names, r.name), r.aliases...)
		}
	}
	return names
}
