package platform

import (
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// Location is a place that is Ready and offers compute.
type Location struct {
	Name string
	// Labels are what a placement's locationSelector selects by.
	Labels map[string]string
}

// NamedLocations returns locations that are labelled with their own name, in
// upper case, as their city code.
func NamedLocations(names ...string) []Location {
	var locations []Location
	for _, name := range names {
		locations = append(locations, Location{Name: name, Labels: map[string]string{
			computeapi.CityCodeLabel: strings.ToUpper(name),
		}})
	}
	return locations
}

// locationList is the platform's locations, which a test may change.
type locationList struct {
	mu  sync.RWMutex
	all []Location
}

func (l *locationList) set(locations []Location) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.Clone(locations)
}

func (l *locationList) get() []Location {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.all
}

// matching returns the names of the locations that a placement asks for and
// that exist, sorted.
func matching(placement computeapi.Placement, locations []Location) ([]string, error) {
	selector := placement.LocationSelector
	if len(placement.CityCodes) > 0 {
		// cityCodes is the older spelling of a selector (section 1.2).
		selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: computeapi.CityCodeLabel, Operator: metav1.LabelSelectorOpIn, Values: placement.CityCodes,
		}}}
	}
	selects, err := metav1.LabelSelectorAsSelector(selector) // nil selects nothing
	if err != nil {
		return nil, err
	}
	var names []string
	for _, location := range locations {
		named := slices.Contains(placement.Locations, computeapi.LocationReference{Name: location.Name})
		if named || selects.Matches(labels.Set(location.Labels)) {
			names = append(names, location.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
