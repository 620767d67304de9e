package webhook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sigsjson "sigs.k8s.io/json"
)

func TestDecodeIsStrictAboutWhatItDecidesOn(t *testing.T) {
	const c = `{"spec":{"runtime":{"sandbox":{"containers":`
	for name, tc := range map[string]struct{ raw, want string }{
		"nothing":                        {"", "there is no object"},
		"only spaces":                    {" \n", "there is no object"},
		"null":                           {"null", "it is no JSON object"},
		"a list":                         {"[]", "it is no JSON object"},
		"half an object":                 {`{"spec":`, `unexpected EOF within "/spec" after offset 8`},
		"two objects":                    {`{}{}`, "invalid character '{' after top-level value after offset 2"},
		"the spec is a list":             {`{"spec":[]}`, "spec must be an object, not a list"},
		"the class is a number":          {`{"spec":{"runtime":{"class":5}}}`, "spec.runtime.class must be a string, not a number"},
		"the sandbox is a string":        {`{"spec":{"runtime":{"sandbox":"x"}}}`, "spec.runtime.sandbox must be an object, not a string"},
		"the containers are a map":       {c + `{"app":{}}}}}}`, "spec.runtime.sandbox.containers must be a list, not an object"},
		"a container is a bool":          {c + `[true]}}}}`, "spec.runtime.sandbox.containers[0] must be an object, not true or false"},
		"a name is an object":            {c + `[{"name":{}}]}}}}`, "spec.runtime.sandbox.containers[0].name must be a string, not an object"},
		"what is added is a string":      {c + `[{"securityContext":{"capabilities":{"add":"ALL"}}}]}}}}`, "spec.runtime.sandbox.containers[0].securityContext.capabilities.add must be a list, not a string"},
		"an entry is an object":          {c + `[{"securityContext":{"capabilities":{"add":[{"name":"ALL"}]}}}]}}}}`, "spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0] must be a string, not an object"},
		"what is added stands twice":     {c + `[{"securityContext":{"capabilities":{"add":[],"add":["ALL"]}}}]}}}}`, `duplicate field "spec.runtime.sandbox.containers[0].securityContext.capabilities.add"`},
		"something unknown stands twice": {`{"spec":{"volumes":1,"volumes":2}}`, `duplicate field "spec.volumes"`},
		"a path of any length":           {`{"` + strings.Repeat("x", 600) + `":1,"` + strings.Repeat("x", 600) + `":1}`, `duplicate field "` + strings.Repeat("x", 509) + `..."`},
		"a time that is none":            {`{"metadata":{"deletionTimestamp":"yesterday"}}`, `metadata.deletionTimestamp cannot be read: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, decode([]byte(tc.raw), &Instance{}), tc.want)
		})
	}
}

func TestDecodePassesOverWhatItDoesNotDecideOn(t *testing.T) {
	for name, raw := range map[string]string{
		"unknown fields of any type": `{"spec":{"volumes":{"a":1},"runtime":{"resources":5,"sandbox":{"sysctls":"x"}}},"status":[]}`,
		"other capital letters":      `{"spec":{"runtime":{"Class":5}}}`,
		"nulls":                      `{"metadata":null,"spec":{"runtime":{"class":null,"sandbox":{"containers":[null]}}}}`,
		"spaces around it":           " \n{} \n",
	} {
		t.Run(name, func(t *testing.T) {
			i := &Instance{}
			require.NoError(t, decode([]byte(raw), i))
			assert.False(t, i.Spec.Runtime.addsAny())
		})
	}
}

// Whatever arrives, decoding ends, and what it accepts says the same when it is
// encoded and read again.
func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add([]byte(`{"spec":{"template":{"spec":{"runtime":{"class":"web","sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":["ALL"]}}}]}}}}}}`))
	f.Add([]byte(`{"metadata":{"ownerReferences":[{"apiVersion":"//","kind":"Workload","controller":true}]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range resources {
			s, err := r.decode(raw)
			if err != nil {
				continue
			}
			again, err := json.Marshal(s.runtime)
			require.NoError(t, err)
			got := &Runtime{}
			require.NoError(t, json.Unmarshal(again, got))
			assert.Equal(t, s.runtime.addsAny(), got.addsAny())
		}
	})
}

// The decoder of the API server, which is several times slower, reads the same out
// of whatever it takes too.
func FuzzDecodeIsThatOfTheServer(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"a":"b"}},"spec":{"template":{"spec":{"runtime":{"class":"web","sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":["ALL"],"drop":null}}}]}}}}}}`))
	f.Add([]byte("{\"metadata\":{\"name\":\"\xff\\ud800\"}}"))
	f.Add([]byte(`{"metadata":{"generation":1.0,"managedFields":[{"fieldsV1":{"f:spec":{}}}]}}`))
	f.Add([]byte(`{"metadata":{"name":"a"},"metadata":{"uid":"b"},"x":1,"x":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, want := &Workload{}, &Workload{}
		err := decode(raw, got)
		twice, wantErr := sigsjson.UnmarshalStrict(raw, want, sigsjson.DisallowDuplicateFields)
		if wantErr != nil || len(twice) > 0 {
			assert.Error(t, err, "the API server's own says %v %v", wantErr, twice)
			return
		}
		if err != nil {
			// It is stricter in these.
			assert.Regexp(t, "^duplicate field|^it is no JSON object|^there is no object", err.Error())
			return
		}
		assert.Equal(t, want, got)
	})
}
