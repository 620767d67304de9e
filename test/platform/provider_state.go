package platform

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Kind names a state of which each flavour of provider has its own wording.
type Kind string

// State is what a provider finds out about an Instance. States can be compared
// with ==. The usual ones are variables below.
type State struct {
	Kind Kind
	// Message, if set, stands in for the wording of what is not True.
	Message string
	// ExitCode is named by the wording of unikraft's CrashLoop; 0 reads as 1.
	ExitCode int
	// Flavour, if set, words this state in place of the platform's Flavour.
	Flavour Flavour

	// Programmed, Available and Echo (whether observedTemplateHash is echoed)
	// are what a free-form state says.
	Programmed, Available Verdict
	Echo                  bool
}

// States of an Instance (sections 6 and 8).
var (
	// Silent writes nothing: the Instance keeps what others wrote.
	Silent           = State{Kind: "Silent"}
	Provisioning     = State{Kind: "Provisioning"}
	Running          = State{Kind: "Running"}
	ImageUnavailable = State{Kind: "ImageUnavailable"}
	CrashLoop        = State{Kind: "CrashLoop"}
	// OOMKilled differs from CrashLoop by its exit code alone, and only in
	// unikraft's wording.
	OOMKilled = State{Kind: "CrashLoop", ExitCode: 137}
	// ConfigError is refused before it starts, ContainerConfigError while.
	ConfigError          = State{Kind: "ConfigError"}
	ContainerConfigError = State{Kind: "ContainerConfigError"}
	PodFailed            = State{Kind: "PodFailed"}
	Stopped              = State{Kind: "Stopped"}
)

// Conditions is a free-form state: exactly these two conditions.
func Conditions(programmed, available Verdict) State {
	return State{
		Kind: "Conditions", Programmed: programmed, Available: available,
		Echo: programmed.Status == metav1.ConditionTrue,
	}
}

// WithMessage returns the state with a message of its own.
func (s State) WithMessage(message string) State {
	s.Message = message
	return s
}

// By returns the state in the wording of a flavour.
func (s State) By(flavour Flavour) State {
	s.Flavour = flavour
	return s
}
