package statuspatch

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// asClientGo has bytes read as client-go reads them: names are compared exactly,
// unknown ones passed over, and of what stands twice the later counts.
var asClientGo = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsonv1.MergeWithLegacySemantics(true))

// unmarshal reads the bytes once, where encoding/json and client-go's copy of it
// read them two or three times: nearly all of an object is passed over, so that
// is what decoding costs.
func unmarshal(data []byte, into any) error { return json.Unmarshal(data, into, asClientGo) }

// newSerializer is client-go's serializer for the cut down objects, but for the
// decoding of those.
func newSerializer() runtime.NegotiatedSerializer {
	scheme := newScheme()
	factory := serializer.NewCodecFactory(scheme).WithoutConversion()
	info, _ := runtime.SerializerInfoForMediaType(factory.SupportedMediaTypes(), runtime.ContentTypeJSON)
	info.Serializer = decoder{info.Serializer, scheme}
	stream := *info.StreamSerializer
	stream.Serializer = eventDecoder{stream.Serializer}
	stream.Framer = framer{stream.Framer}
	info.StreamSerializer = &stream
	return negotiated{factory, []runtime.SerializerInfo{info}}
}

// negotiated offers JSON alone.
type negotiated struct {
	runtime.NegotiatedSerializer
	types []runtime.SerializerInfo
}

// SupportedMediaTypes satisfies runtime.NegotiatedSerializer.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.types }

// decoder decodes the objects of the API.
type decoder struct {
	runtime.Serializer
	scheme *runtime.Scheme
}

// Decode satisfies runtime.Decoder. Whatever is not plainly one of the objects,
// such as an error that the API server answers with, is left to client-go.
func (d decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	var is metav1.TypeMeta
	if unmarshal(data, &is) != nil || is.APIVersion != groupVersion.String() || !d.scheme.Recognizes(is.GroupVersionKind()) {
		return d.Serializer.Decode(data, defaults, into)
	}
	kind := is.GroupVersionKind()
	o, err := runtime.UseOrCreateObject(d.scheme, d.scheme, kind, into)
	if err != nil {
		return nil, &kind, err
	}
	if err := unmarshal(data, o); err != nil {
		return nil, &kind, err
	}
	return o, &kind, nil
}

// eventDecoder decodes the events of a watch, whose objects are decoded after.
type eventDecoder struct{ runtime.Serializer }

// Decode satisfies runtime.Decoder.
func (e eventDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, ok := into.(*metav1.WatchEvent)
	if !ok {
		return e.Serializer.Decode(data, defaults, into)
	}
	kind := groupVersion.WithKind("WatchEvent")
	if err := unmarshal(data, event); err != nil {
		return nil, &kind, err
	}
	return event, &kind, nil
}

// framer splits a watch into its events.
type framer struct{ runtime.Framer }

// NewFrameReader satisfies runtime.Framer.
func (framer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &frames{Closer: r, values: jsontext.NewDecoder(r, asClientGo)}
}

type frames struct {
	io.Closer
	values *jsontext.Decoder
	// rest is what is left of an event that did not fit; it is the decoder's until
	// the next event is read.
	rest []byte
}

// Read answers the next event, or with io.ErrShortBuffer a part of it.
func (f *frames) Read(data []byte) (int, error) {
	if len(f.rest) == 0 {
		event, err := f.values.ReadValue()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			// client-go compares: a watch that breaks off is begun anew and no error.
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		f.rest = event
	}
	n := copy(data, f.rest)
	if f.rest = f.rest[n:]; len(f.rest) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}
