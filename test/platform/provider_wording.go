package platform

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// Flavour is whose words a provider uses (section 6).
type Flavour string

const (
	// Kata reports failures to start as Unknown.
	Kata Flavour = "kata"
	// Unikraft, the newest revision, reports them as False and names the
	// container, the image or the exit code.
	Unikraft Flavour = "unikraft"
	// UnikraftOlder is Kata but for the reasons Stopping and Failed.
	UnikraftOlder Flavour = "unikraft-older"
)

// report is what a provider writes.
type report struct {
	programmed, available Verdict
	// echo tells that the Pod runs the template of the Instance's hash.
	echo bool
}

// words returns how a flavour reports a state of an Instance.
func (f Flavour) words(state State, instance *computeapi.Instance) report {
	if state.Kind == "Conditions" {
		return report{state.Programmed, state.Available, state.Echo}
	}
	f = cmp.Or(state.Flavour, f)
	var r report
	switch f {
	case Unikraft:
		r = unikraftWords(state, instance)
	case UnikraftOlder:
		r = unikraftOlderWords(state)
	default:
		r = kataWords(state)
	}
	if state.Message != "" {
		for _, v := range []*Verdict{&r.programmed, &r.available} {
			if v.Status != metav1.ConditionTrue || state.Kind == Running.Kind {
				v.Message = state.Message
			}
		}
	}
	return r
}

// kataWords maps the phase of the Pod and, in phase Pending, why its container
// waits.
func kataWords(state State) report {
	waiting := func(reason, message string) report {
		return report{
			programmed: Verdict{metav1.ConditionUnknown, "ProgrammingInProgress", message},
			available:  Verdict{metav1.ConditionUnknown, reason, message},
		}
	}
	switch state.Kind {
	case Running.Kind:
		return report{
			programmed: Verdict{metav1.ConditionTrue, "Programmed", "Instance is available"},
			available:  Verdict{metav1.ConditionTrue, "Available", "Instance is available"},
			echo:       true,
		}
	case ImageUnavailable.Kind:
		return waiting("ImageUnavailable", "The instance image could not be pulled")
	case CrashLoop.Kind:
		return waiting("InstanceCrashing", "The instance is repeatedly failing to start")
	case ContainerConfigError.Kind:
		return waiting("ConfigurationError", "The instance could not be started due to a configuration error")
	case ConfigError.Kind:
		return bothFalse("ConfigurationError", "The instance declares no containers to run, so the instance cannot start.")
	case PodFailed.Kind:
		return bothFalse("InstanceCrashing", "Instance stopped unexpectedly")
	case Stopped.Kind:
		return bothFalse("Stopped", "Instance has stopped")
	default:
		return waiting("Provisioning", "Instance is provisioning")
	}
}

func unikraftOlderWords(state State) report {
	switch state.Kind {
	case Stopped.Kind:
		return bothFalse("Stopping", "Instance has stopped")
	case PodFailed.Kind:
		return bothFalse("Failed", "Instance failed")
	default:
		return kataWords(state)
	}
}

func unikraftWords(state State, instance *computeapi.Instance) report {
	var container computeapi.Container
	if sandbox := instance.Spec.Runtime.Sandbox; sandbox != nil && len(sandbox.Containers) > 0 {
		container = sandbox.Containers[0]
	}
	switch state.Kind {
	case ImageUnavailable.Kind:
		return bothFalse("ImageUnavailable",
			fmt.Sprintf("Image %q for container %q could not be pulled anonymously", container.Image, container.Name))
	case CrashLoop.Kind:
		return report{
			programmed: Verdict{metav1.ConditionTrue, "Programmed", "Instance is programmed"},
			available: Verdict{metav1.ConditionFalse, "InstanceCrashing",
				fmt.Sprintf("Container %q keeps exiting (last exit code %d); restarting", container.Name, cmp.Or(state.ExitCode, 1))},
			echo: true,
		}
	case ConfigError.Kind, ContainerConfigError.Kind:
		return bothFalse("ConfigurationError",
			fmt.Sprintf("Container %q could not be started due to a configuration error; retrying", container.Name))
	default:
		return kataWords(state)
	}
}

func bothFalse(reason, message string) report {
	v := Verdict{metav1.ConditionFalse, reason, message}
	return report{programmed: v, available: v}
}
