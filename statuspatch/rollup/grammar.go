package rollup

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

const (
	// maxFurther bounds the sentences after the first.
	maxFurther = 3
	// maxClauses bounds the clauses of a deployment that is available.
	maxClauses = 8
)

// down is the verdict on Instances none of which is ready: the best of the
// ranked failures in full, further ones in brief, or the default.
func down(ranked []Failure, counted, seen int) Verdict {
	if len(ranked) == 0 {
		return Verdict{metav1.ConditionFalse, reason.InstancesProvisioning, defaultSentence(seen)}
	}
	lead := ranked[0]
	var b strings.Builder
	text := sentence(lead, counted)
	if lead.Message != "" {
		text += ": " + lead.Message
	}
	b.WriteString(stopped(text))
	further := telling(ranked[1:])
	for i, f := range further {
		if i == maxFurther {
			b.WriteString(" " + tail(total(further[i:])))
			break
		}
		b.WriteString(" " + stopped(sentence(f, counted)))
	}
	return Verdict{metav1.ConditionFalse, lead.Reason, b.String()}
}

func defaultSentence(seen int) string {
	if seen == 0 {
		return reason.MessageNoInstances
	}
	return reason.MessageInstancesProvisioning
}

// sentence is "N of M instances" and the phrase, without detail or stop.
func sentence(f Failure, counted int) string {
	return strconv.Itoa(f.Count) + " of " + strconv.Itoa(counted) + " instances " + reason.Phrase(f.Reason, f.Count)
}

// tail is the sentence for n Instances whose reasons found no room.
func tail(n int) string {
	if n == 1 {
		return "1 more instance is not running for other reasons."
	}
	return strconv.Itoa(n) + " more instances are not running for other reasons."
}

// serving is the message of a deployment with a ready Instance:
// "2/3 instances are ready; 1 is suspended".
func serving(ready, counted int, ranked []Failure) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(ready) + "/" + strconv.Itoa(counted) + " instances are ready")
	clauses := telling(ranked)
	for i, f := range clauses {
		if i < maxClauses {
			b.WriteString("; " + strconv.Itoa(f.Count) + " " + reason.Phrase(f.Reason, f.Count))
			continue
		}
		n := total(clauses[i:])
		verb := " more are"
		if n == 1 {
			verb = " more is"
		}
		b.WriteString("; " + strconv.Itoa(n) + verb + " not running for other reasons")
		break
	}
	return b.String()
}

func total(failures []Failure) int {
	n := 0
	for _, f := range failures {
		n += f.Count
	}
	return n
}
