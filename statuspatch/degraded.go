package statuspatch

import (
	"strconv"
	"time"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// conditionDegraded is the one condition that no other writer has. It is off
// unless asked for: other condition types are nobody's business here.
const conditionDegraded = "Degraded"

// wantDegraded adds to the plan what makes Degraded say the verdict, or, where
// none is kept, what takes away the one that was kept before. It is the last of
// a plan, since indices behind a removed condition change.
func (p *plan) wantDegraded(kept bool, have ledger.Conditions, v rollup.Verdict, now time.Time) {
	const at = "/status/conditions"
	switch {
	case kept:
		// Available, wanted before, has begun the list.
		p.want(at, true, have.Degraded, conditionDegraded, v, now)
	case rollup.IsDegraded(have.Degraded.Value()):
		p.operations = append(p.operations, operation{"remove", at + "/" + strconv.Itoa(have.Degraded.Index), nil})
		p.aim += "without " + conditionDegraded
	}
}
