package webhook

// Outcome is what a review came to: a closed set, for metrics and logs.
type Outcome string

const (
	// OutcomeAllowed: nothing is wrong, or nothing was to be judged.
	OutcomeAllowed Outcome = "allowed"
	// OutcomeKept: accepted with a warning, by the ratchet or for the owner's sake.
	OutcomeKept Outcome = "kept"
	// OutcomeOwnerElsewhere: a copy whose owner is on another control plane,
	// accepted with a warning.
	OutcomeOwnerElsewhere Outcome = "owner_elsewhere"
	// OutcomeRefused: refused by a rule.
	OutcomeRefused Outcome = "refused"
	// OutcomeWouldRefuse: what ModeWarn makes of OutcomeRefused.
	OutcomeWouldRefuse Outcome = "would_refuse"
	// OutcomeDoubtRefused: it could not be judged and was refused.
	OutcomeDoubtRefused Outcome = "doubt_refused"
	// OutcomeDoubtAllowed: it could not be judged and was accepted with a warning.
	OutcomeDoubtAllowed Outcome = "doubt_allowed"
	// OutcomeBadRequest: it was no review of this resource.
	OutcomeBadRequest Outcome = "bad_request"
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{
	OutcomeAllowed, OutcomeKept, OutcomeOwnerElsewhere, OutcomeRefused, OutcomeWouldRefuse,
	OutcomeDoubtRefused, OutcomeDoubtAllowed, OutcomeBadRequest,
}

// softened is what ModeWarn makes of an outcome: nothing is refused.
func (o Outcome) softened() Outcome {
	switch o {
	case OutcomeRefused:
		return OutcomeWouldRefuse
	case OutcomeDoubtRefused:
		return OutcomeDoubtAllowed
	default:
		return o
	}
}

// Mode says what becomes of an object that breaks a rule.
type Mode string

const (
	// ModeEnforce refuses it. This is the default.
	ModeEnforce Mode = "enforce"
	// ModeWarn accepts it with a warning and counts it, to learn what enforcing
	// would hit.
	ModeWarn Mode = "warn"
)

// Modes lists every mode.
var Modes = []Mode{ModeEnforce, ModeWarn}
