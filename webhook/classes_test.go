package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultGrants(t *testing.T) {
	type answer struct {
		Class        string
		Capabilities []string
	}
	general := giving(defaulted(granting("general-purpose", "SETUID", "CHOWN", "KILL")), "SETUID", "CHOWN")
	tests := map[string]struct {
		list []RuntimeClass
		name string
		want answer
	}{
		"by name, sorted":                {[]RuntimeClass{general}, "general-purpose", answer{"general-purpose", []string{"CHOWN", "SETUID"}}},
		"no name stands for the default": {[]RuntimeClass{general, granting("web", "KILL")}, "", answer{"general-purpose", []string{"CHOWN", "SETUID"}}},
		"of two defaults neither":        {[]RuntimeClass{general, defaulted(granting("web"))}, "", answer{}},
		"a class that is not there":      {[]RuntimeClass{general}, "web", answer{"web", nil}},
		"a default that is no longer granted": {
			[]RuntimeClass{giving(granting("web", "CHOWN"), "CHOWN", "SETUID")}, "web", answer{"web", []string{"CHOWN"}}},
		"nothing without the feature": {[]RuntimeClass{giving(featureless("web"), "CHOWN")}, "web", answer{"web", nil}},
		"ALL is no capability":        {[]RuntimeClass{giving(granting("web", "ALL", "KILL"), "ALL", "KILL")}, "web", answer{"web", []string{"KILL"}}},
		"no defaults":                 {[]RuntimeClass{granting("web", "KILL")}, "web", answer{"web", nil}},
		"no classes":                  {nil, "", answer{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			class, capabilities := NewClasses(tc.list).DefaultGrants(tc.name)
			if diff := cmp.Diff(tc.want, answer{class, capabilities}); diff != "" {
				t.Errorf("DefaultGrants(%q) (-want +got):\n%s", tc.name, diff)
			}
		})
	}
}
