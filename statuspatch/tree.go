package statuspatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tree is an object's status and managed fields, decoded whole: every member
// and every number as it came, known here or not.
type tree struct {
	status        map[string]any
	managedFields any
}

func decodeTree(raw []byte) (*tree, error) {
	var o struct {
		Metadata struct {
			ManagedFields any `json:"managedFields"`
		} `json:"metadata"`
		Status map[string]any `json:"status"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		return nil, err
	}
	return &tree{status: o.Status, managedFields: o.Metadata.ManagedFields}, nil
}

// apply puts one correction into the tree. What the stored object says is taken
// over whole, its place in the list included, wherever it says the same.
func (t *tree) apply(c correction, old *tree) error {
	holder, stored := t.status, old.status
	if c.placement != "" {
		if holder = placementNamed(t.status, c.placement); holder == nil {
			return fmt.Errorf("correcting placement %q: %w", c.placement, errNoPlacement)
		}
		stored = placementNamed(old.status, c.placement)
	}
	list, ok := holder["conditions"].([]any)
	if !ok && holder["conditions"] != nil {
		return fmt.Errorf("correcting condition %s: the condition list is a %T", c.condition.Type, holder["conditions"])
	}
	storedList, _ := stored["conditions"].([]any)
	corrected, err := correctList(list, storedList, c.condition)
	if err != nil {
		return fmt.Errorf("correcting condition %s: %w", c.condition.Type, err)
	}
	holder["conditions"] = corrected
	return nil
}

func placementNamed(status map[string]any, name string) map[string]any {
	placements, _ := status["placements"].([]any)
	for _, p := range placements {
		if m, ok := p.(map[string]any); ok && m["name"] == name {
			return m
		}
	}
	return nil
}

// correctList answers the list with the condition in it.
func correctList(list, stored []any, want metav1.Condition) ([]any, error) {
	at, item := find(list, want.Type)
	storedAt, storedItem := find(stored, want.Type)

	corrected, err := merge(item, want)
	if err != nil {
		return nil, err
	}
	if storedItem != nil {
		if same, err := merge(storedItem, want); err != nil {
			return nil, err
		} else if reflect.DeepEqual(same, storedItem) {
			// Of members unknown here the writer's new ones are kept, and those it
			// does not send back stay as they are stored.
			if corrected, err = merge(union(storedItem, item), want); err != nil {
				return nil, err
			}
		}
	}
	out := slices.Clone(list)
	if at >= 0 {
		out = slices.Delete(out, at, at+1)
	}
	switch {
	case storedAt >= 0:
		at = min(storedAt, len(out))
	case at < 0:
		at = len(out)
	}
	return slices.Insert(out, at, any(corrected)), nil
}

// find is the first condition of a type and its place, or -1.
func find(list []any, conditionType string) (int, map[string]any) {
	for i, item := range list {
		if m, ok := item.(map[string]any); ok && m["type"] == conditionType {
			return i, m
		}
	}
	return -1, nil
}

// union has the members of both, b's where both have one.
func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// merge answers the item with the members of a condition set to those of want;
// members unknown here stay.
func merge(item map[string]any, want metav1.Condition) (map[string]any, error) {
	raw, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(item)+len(members))
	for k, v := range item {
		out[k] = v
	}
	if _, ok := members["observedGeneration"]; !ok {
		delete(out, "observedGeneration")
	}
	for k, v := range members {
		out[k] = v
	}
	return out, nil
}
