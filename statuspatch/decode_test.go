package statuspatch

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"
)

// whole has all of an object's metadata, and is decoded as client-go decodes: the
// reference for what is read of less, and faster.
type whole struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// meta is what the objects here have of it.
func (w *whole) meta() objectMeta {
	m := objectMeta{
		Name: w.Name, Namespace: w.Namespace, UID: w.UID, ResourceVersion: w.ResourceVersion,
		DeletionTimestamp: w.DeletionTimestamp, OwnerReferences: w.OwnerReferences,
	}
	m.Labels.Ordinal = w.Labels["compute.datumapis.com/instance-index"]
	m.Annotations.InitialEventsEnd = w.Annotations["k8s.io/initial-events-end"]
	if paused, ok := w.Annotations["causeway.dev/paused"]; ok {
		m.Annotations.Paused = &paused
	}
	return m
}

type wholeInstance struct {
	whole
	Spec struct {
		Runtime unread `json:"runtime"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// unread is passed over: what is wrong in a spec fails nothing, and another test
// reads one.
type unread struct{}

func (*unread) UnmarshalJSON([]byte) error { return nil }

func (w *wholeInstance) instance() *instanceObject {
	o := &instanceObject{TypeMeta: w.TypeMeta, named: named{w.meta()}}
	o.Status.Conditions = w.Status.Conditions
	return o
}

// Whatever client-go can decode whole reads the same here.
func FuzzAnInstanceReadsAsClientGoReadsIt(f *testing.F) {
	f.Add(fullObjects["Instance"])
	f.Add(string(largeInstance(0, 7)))
	for _, member := range []string{
		`"metadata":{"name":"b"},"metadata":null`, `"metadata":{"labels":{"compute.datumapis.com/instance-index":null}}`,
		`"metadata":{"deletionTimestamp":"2026-05-01T10:00:00Z","Name":"c"}`, `"metadata":{"\u006eame":"d\ud800","ownerReferences":null}`,
		`"status":{"conditions":[{"type":"Ready","status":"True","reason":"x","message":"\u00e9"},null]}`,
		`"status":{"conditions":[{"type":"Ready"}],"conditions":[{"status":"False"}]}`, `"STATUS":7`, `"status":{"conditions":null}`,
	} {
		f.Add(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Instance","metadata":{"name":"a"},` + member + `}`)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want wholeInstance
		if kjson.UnmarshalCaseSensitivePreserveInts([]byte(raw), &want) != nil {
			return
		}
		var got instanceObject
		require.NoError(t, unmarshal([]byte(raw), &got))
		assert.Equal(t, want.TypeMeta, got.TypeMeta)
		assert.Equal(t, readInstance(want.instance()), readInstance(&got))
		assert.Equal(t, want.Status, got.Status)
	})
}

func TestParentsReadAsClientGoReadsThem(t *testing.T) {
	const paused, end = `"causeway.dev/paused":"yes"`, `"k8s.io/initial-events-end":"true"`
	for kind, raw := range fullObjects {
		for _, raw := range []string{
			raw,
			strings.Replace(raw, `"creationTimestamp"`, `"annotations":{`+paused+`,`+end+`,"other":"x"},"deletionTimestamp":"2026-05-01T10:00:00Z","creationTimestamp"`, 1),
		} {
			var want whole
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(raw), &want))
			o, err := runtime.Decode(objectDecoder(t), []byte(raw))
			require.NoError(t, err, kind)
			got := map[string]func() any{
				"Instance":           func() any { return o.(*instanceObject).Metadata },
				"WorkloadDeployment": func() any { return o.(*deploymentObject).Metadata },
				"Workload":           func() any { return o.(*workloadObject).Metadata },
			}[kind]()
			assert.Equal(t, want.meta(), got, kind)

			accessor, err := meta.Accessor(o)
			require.NoError(t, err)
			assert.Equal(t, want.Name, accessor.GetName())
			assert.Equal(t, want.Namespace, accessor.GetNamespace())
			assert.Equal(t, want.UID, accessor.GetUID())
			assert.Equal(t, want.ResourceVersion, accessor.GetResourceVersion())
			assert.Equal(t, want.DeletionTimestamp, accessor.GetDeletionTimestamp())
			assert.Equal(t, want.Annotations[metav1.InitialEventsAnnotationKey], accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey])
			assert.Equal(t, o, o.DeepCopyObject(), kind)
		}
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	const head = `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Instance",`
	for _, raw := range []string{
		head + `"metadata":{"name":"a"}`, head + `"metadata":{"name":"a"}}}`, head + `"metadata":{"name":"a","managedFields":[nul]}}`,
		head + `"metadata":"a"}`, head + `"metadata":{"name":7}}`, head + `"metadata":{"name":"a","deletionTimestamp":"yesterday"}}`,
		head + `"metadata":{"name":"a","labels":[]}}`, head + `"metadata":{"name":"a","ownerReferences":{}}}`,
		head + `"metadata":{"name":"a","labels":{"compute.datumapis.com/instance-index":1}}}`,
		head + `"metadata":{"name":"a"},"status":[]}`, head + `"metadata":{"name":"a"},"status":{"conditions":7}}`,
		head + `"metadata":{"name":"a"},"status":{"conditions":[{"type":1}]}}`,
		head + `"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","lastTransitionTime":"soon"}]}}`,
		head + `"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","observedGeneration":"1"}]}}`,
	} {
		_, err := decodeInstance([]byte(raw))
		require.Error(t, err, raw)
		_, err = runtime.Decode(objectDecoder(t), []byte(raw))
		require.Error(t, err, raw)
	}
}

func TestAListIsDecoded(t *testing.T) {
	raw := `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"InstanceList","metadata":{"resourceVersion":"9","continue":"c"},"items":[` +
		fullObjects["Instance"] + `,` + string(largeInstance(1, 7)) + `]}`
	var list instanceList
	_, _, err := objectDecoder(t).Decode([]byte(raw), nil, &list)
	require.NoError(t, err)
	assert.Equal(t, "9", list.ResourceVersion)
	assert.Equal(t, "c", list.Continue)
	require.Len(t, list.Items, 2)
	first, err := decodeInstance([]byte(fullObjects["Instance"]))
	require.NoError(t, err)
	assert.Equal(t, first, readInstance(&list.Items[0]))
}

// What the API server answers instead of an object stays client-go's to read.
func TestAnErrorOfTheAPIServerIsDecodedAsOne(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","code":410}`
	o, _, err := objectDecoder(t).Decode([]byte(status), nil, &instanceObject{})
	require.NoError(t, err)
	assert.Equal(t, metav1.StatusReasonExpired, o.(*metav1.Status).Reason)

	kind, o, err := watchEvents(t, `{"type":"ERROR","object":`+status+`}`).Decode()
	require.NoError(t, err)
	assert.Equal(t, apiwatch.Error, kind)
	assert.Equal(t, int32(410), o.(*metav1.Status).Code)

	_, _, err = watchEvents(t, status).Decode()
	require.Error(t, err, "a stream of something else")
}

// An object without a kind takes that of what it is decoded into, as ever.
func TestAnObjectWithoutAKindIsDecoded(t *testing.T) {
	into := &workloadObject{}
	o, _, err := objectDecoder(t).Decode([]byte(`{"metadata":{"name":"api"}}`), nil, into)
	require.NoError(t, err)
	assert.Same(t, into, o)
	assert.Equal(t, "api", into.Metadata.Name)
}

func TestEventsOfAWatchAreDecoded(t *testing.T) {
	events := watchEvents(t, `{"type":"MODIFIED","object":`+fullObjects["Instance"]+`}`)
	want, err := decodeInstance([]byte(fullObjects["Instance"]))
	require.NoError(t, err)
	for range 2 {
		kind, o, err := events.Decode()
		require.NoError(t, err)
		assert.Equal(t, apiwatch.Modified, kind)
		assert.Equal(t, want, readInstance(o.(*instanceObject)))
	}
}

// Of events that come in pieces, larger and smaller than any buffer, none is lost;
// and the end of a watch is told in client-go's terms.
func TestAWatchIsSplitIntoItsEvents(t *testing.T) {
	frame := func(name string) string {
		return `{"type":"ADDED","object":{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{"name":"` + name + `"}}}`
	}
	long := strings.Repeat("x", 10_000)
	broken := errors.New("read: connection reset by peer")
	for name, tc := range map[string]struct {
		last io.Reader
		want error
	}{
		"closed":     {strings.NewReader("\n"), io.EOF},
		"broken off": {strings.NewReader(`{"type":"ADD`), io.ErrUnexpectedEOF},
		"reset":      {iotest.ErrReader(broken), broken},
		"cut short":  {iotest.ErrReader(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			stream := io.MultiReader(strings.NewReader(frame("a")+"\n"+frame(long)+frame("b")+"\n"), tc.last)
			events := watchOf(t, iotest.OneByteReader(stream))
			for _, want := range []string{"a", long, "b"} {
				_, o, err := events.Decode()
				require.NoError(t, err)
				assert.Equal(t, want, o.(*workloadObject).Metadata.Name)
			}
			_, _, err := events.Decode()
			require.ErrorIs(t, err, tc.want)
			if tc.want != broken {
				assert.Equal(t, tc.want, err, "client-go compares")
			}
		})
	}
}

// An event is answered before anything follows it.
func TestAnEventIsNotHeldBack(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	events := watchOf(t, r)
	go w.Write([]byte(`{"type":"MODIFIED","object":` + fullObjects["Instance"] + `}`))
	_, o, err := events.Decode()
	require.NoError(t, err)
	assert.Equal(t, "api-main-us-east-1-2", o.(*instanceObject).Metadata.Name)
}
