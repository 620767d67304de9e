package reason

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whoever adds a reason also says what to do about it, and nothing is left over
// from one that went.
func TestThereIsAdviceForEveryReason(t *testing.T) {
	left := map[string]bool{}
	for name := range advice {
		left[name] = true
	}
	for _, r := range table {
		delete(left, r.name)
		for _, name := range append([]string{r.name}, r.aliases...) {
			line := Advice(name)
			assert.NotEmpty(t, line, name)
			assert.NotContains(t, line, "\n", name)
			assert.True(t, strings.HasSuffix(line, "."), "%s: %q is a sentence", name, line)
			assert.Less(t, len(line), 240, "%s: three lines of a terminal at most", name)
		}
	}
	assert.Empty(t, left, "advice on reasons that the table does not have")
}

func TestAdviceOnWhatNobodyKnows(t *testing.T) {
	assert.Equal(t, unheardOf, Advice("FluxCapacitorMissing"))
	assert.Equal(t, Advice(InstanceCrashing), Advice("CrashLoopBackOff"), "an alias has its reason's advice")
	assert.Equal(t, onItsWay, Advice("Provisioning"))
}
