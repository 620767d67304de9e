package statuspatch

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// PathPods is the path of the mutating webhook on instances/status, as
// deploy/components/observe-pods names it.
const PathPods = "/mutate-instances-status"

// hookPods is that webhook.
const hookPods hook = "pods"

// review corrects what another writer is about to store of an Instance whose Pod
// says otherwise. A provider that goes on to claim Available=True then changes
// nothing: the whole status is what is stored, managed fields included.
func (p *pods) review(_ context.Context, req admission.Request) (admission.Response, outcome) {
	if req.UserInfo.Username == p.user {
		return admission.Allowed(""), outcomeUnchanged
	}
	patches, err := p.correct(req)
	if err != nil {
		p.log.Error(err, "An Instance's status could not be corrected; it passes as it is")
		return admission.Allowed(""), outcomeUndecodable
	}
	response := admission.Allowed("")
	if len(patches.Patches) == 0 {
		return response, outcomeUnchanged
	}
	response.Patches = patches.Patches
	return response, outcomeApplied
}

func (p *pods) correct(req admission.Request) (response admission.Response, err error) {
	old, err := decodeObject(req.OldObject.Raw)
	if err != nil {
		return response, fmt.Errorf("decoding oldObject: %w", err)
	}
	incoming, err := decodeObject(req.Object.Raw)
	if err != nil {
		return response, fmt.Errorf("decoding object: %w", err)
	}
	v, ok := p.store.Judge(types.NamespacedName{Namespace: incoming.Metadata.Namespace, Name: incoming.Metadata.Name}, incoming.Metadata.UID)
	if !ok || incoming.Metadata.DeletionTimestamp != nil {
		return response, nil
	}
	stored, coming := readConditions(old.Status.Conditions), readConditions(incoming.Status.Conditions)
	if coming.Available == nil {
		return response, nil // whoever drops the condition does not claim anything
	}
	c := podstate.Correct(v, stored.Available.Value(), coming.Available.Value(), p.now())
	if !c.Governs {
		return response, nil
	}
	response.Patches, err = overlayPatch(req.OldObject.Raw, req.Object.Raw, []correction{{condition: c.Condition}})
	return response, err
}

func decodeObject(raw []byte) (*instanceObject, error) {
	var o instanceObject
	if err := unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o.Kind != "Instance" || o.Metadata.Name == "" {
		return nil, fmt.Errorf("it is %s %q, not an Instance", o.GroupVersionKind(), o.Metadata.Name)
	}
	return &o, nil
}
