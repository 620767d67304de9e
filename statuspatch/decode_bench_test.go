package statuspatch

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	clientwatch "k8s.io/client-go/rest/watch"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// BenchmarkDecodeReview is the decoding of both objects of a review.
func BenchmarkDecodeReview(b *testing.B) {
	req := fullReview()
	b.SetBytes(int64(len(req.OldObject.Raw) + len(req.Object.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decodeInstances(req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode is the decoding of one object, as it is done after a read or
// inside a watch event.
func BenchmarkDecode(b *testing.B) {
	for name, raw := range fullObjects {
		b.Run(name, func(b *testing.B) {
			decode, raw := objectDecoder(b), []byte(raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := runtime.Decode(decode, raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatchEvent is all that client-go does with the bytes of an event.
func BenchmarkWatchEvent(b *testing.B) {
	for name, raw := range fullObjects {
		b.Run(name, func(b *testing.B) {
			events := watchEvents(b, fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, raw))
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := events.Decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// objectDecoder is what the client decodes an answer with.
func objectDecoder(tb testing.TB) runtime.Decoder {
	tb.Helper()
	d, err := runtime.NewClientNegotiator(newSerializer(), groupVersion).Decoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// watchEvents is a watch as the client sets it up, on which this event comes
// over and over.
func watchEvents(tb testing.TB, event string) *clientwatch.Decoder {
	tb.Helper()
	return watchOf(tb, &again{line: []byte(event + "\n")})
}

func watchOf(tb testing.TB, r io.Reader) *clientwatch.Decoder {
	tb.Helper()
	object, stream, framer, err := runtime.NewClientNegotiator(newSerializer(), groupVersion).StreamDecoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return clientwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(r)), stream), object)
}

// again reads the same line for ever.
type again struct {
	line []byte
	rest bytes.Reader
}

func (a *again) Read(p []byte) (int, error) {
	if a.rest.Len() == 0 {
		a.rest.Reset(a.line)
	}
	return a.rest.Read(p)
}

// fullReview is the review of a write of such an Instance's status.
func fullReview() admission.Request {
	raw := []byte(fullObjects["Instance"])
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "r1", Operation: admissionv1.Update, SubResource: "status",
		OldObject: runtime.RawExtension{Raw: raw}, Object: runtime.RawExtension{Raw: bytes.Clone(raw)},
	}}
}

// fullObjects are objects as the API server sends them: all members, in its
// order, and the managed fields of all who write them.
var fullObjects = map[string]string{
	"Instance": `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Instance","metadata":{` +
		`"annotations":{"compute.datumapis.com/last-placement":"us-east-1","compute.datumapis.com/source-generation":"3"},` +
		`"creationTimestamp":"2026-05-01T10:00:00Z","finalizers":["compute.datumapis.com/instance-controller"],"generation":3,` +
		`"labels":{"compute.datumapis.com/instance-index":"2","compute.datumapis.com/location":"us-east-1","compute.datumapis.com/placement-name":"main",` +
		`"compute.datumapis.com/workload-deployment-name":"api-main-us-east-1","compute.datumapis.com/workload-deployment-uid":"1f5d6f0c-6a7b-4b49-8f3c-0a2f3a4b5c6d",` +
		`"compute.datumapis.com/workload-uid":"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c"},` +
		`"managedFields":[` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:compute.datumapis.com/last-placement":{},` +
		`"f:compute.datumapis.com/source-generation":{}},"f:finalizers":{".":{},"v:\"compute.datumapis.com/instance-controller\"":{}},"f:labels":{".":{},` +
		`"f:compute.datumapis.com/instance-index":{},"f:compute.datumapis.com/location":{},"f:compute.datumapis.com/placement-name":{},` +
		`"f:compute.datumapis.com/workload-deployment-name":{},"f:compute.datumapis.com/workload-deployment-uid":{},"f:compute.datumapis.com/workload-uid":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"1f5d6f0c-6a7b-4b49-8f3c-0a2f3a4b5c6d\"}":{}}},"f:spec":{".":{},"f:location":{},"f:networkInterfaces":{},` +
		`"f:runtime":{".":{},"f:class":{},"f:resources":{".":{},"f:instanceType":{}},"f:sandbox":{".":{},"f:containers":{".":{},"k:{\"name\":\"app\"}":{".":{},"f:env":{},` +
		`"f:image":{},"f:name":{},"f:ports":{}}}}}}},"manager":"workload-operator","operation":"Update","time":"2026-05-01T10:00:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},` +
		`"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Programmed\"}":{".":{},"f:lastTransitionTime":{},` +
		`"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:networkInterfaces":{}}},"manager":"unikraft-provider","operation":"Update",` +
		`"subresource":"status","time":"2026-05-01T10:01:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"QuotaGranted\"}":{".":{},` +
		`"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},` +
		`"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}}}},"manager":"compute-manager","operation":"Update","subresource":"status",` +
		`"time":"2026-05-01T10:01:02Z"}],` +
		`"name":"api-main-us-east-1-2","namespace":"shop","ownerReferences":[{"apiVersion":"compute.datumapis.com/v1alpha","blockOwnerDeletion":true,"controller":true,` +
		`"kind":"WorkloadDeployment","name":"api-main-us-east-1","uid":"1f5d6f0c-6a7b-4b49-8f3c-0a2f3a4b5c6d"}],"resourceVersion":"118273","uid":"0a2f3a4b-5c6d-4f5d-8f0c-6a7b4b498f3c"},` +
		`"spec":{"location":{"name":"us-east-1","namespace":"shop"},"networkInterfaces":[{"network":{"name":"default"},"networkPolicy":{"ingress":[{"ports":[{"port":8080}]}]}}],` +
		`"runtime":{"class":"general-purpose","resources":{"instanceType":"datumcloud/d1-standard-2"},"sandbox":{"containers":[{"env":[{"name":"LOG","value":"info"},` +
		`{"name":"PORT","value":"8080"}],"image":"registry.example.com/shop/api@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","name":"app",` +
		`"ports":[{"name":"http","port":8080}]}]}}},` +
		`"status":{"conditions":[{"lastTransitionTime":"2026-05-01T10:01:00Z","message":"Instance is programmed","observedGeneration":3,"reason":"Programmed","status":"True","type":"Programmed"},` +
		`{"lastTransitionTime":"2026-05-01T10:01:00Z","message":"Container \"app\" keeps exiting (last exit code 1); restarting","observedGeneration":3,"reason":"InstanceCrashing","status":"False","type":"Available"},` +
		`{"lastTransitionTime":"2026-05-01T10:01:02Z","message":"Instance is not available","observedGeneration":3,"reason":"InstanceCrashing","status":"False","type":"Ready"},` +
		`{"lastTransitionTime":"2026-05-01T10:00:10Z","message":"Quota is granted","observedGeneration":3,"reason":"QuotaAvailable","status":"True","type":"QuotaGranted"}],` +
		`"networkInterfaces":[{"assignments":{"externalIP":"203.0.113.7","networkIP":"10.0.0.7"}}]}}`,

	"WorkloadDeployment": `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{` +
		`"creationTimestamp":"2026-05-01T10:00:00Z","finalizers":["compute.datumapis.com/workload-deployment-controller"],"generation":1,` +
		`"labels":{"compute.datumapis.com/workload-uid":"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c"},` +
		`"managedFields":[` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"compute.datumapis.com/workload-deployment-controller\"":{}},` +
		`"f:labels":{".":{},"f:compute.datumapis.com/workload-uid":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c\"}":{}}},"f:spec":{".":{},` +
		`"f:cityCode":{},"f:placementName":{},"f:scaleSettings":{".":{},"f:minReplicas":{}},"f:template":{".":{},"f:spec":{".":{},"f:runtime":{}}},"f:workloadRef":{".":{},"f:name":{},"f:uid":{}}}},` +
		`"manager":"compute-manager","operation":"Update","time":"2026-05-01T10:00:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},` +
		`"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:currentReplicas":{},"f:desiredReplicas":{},"f:readyReplicas":{},"f:replicas":{}}},` +
		`"manager":"compute-manager","operation":"Update","subresource":"status","time":"2026-05-01T10:01:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":{"f:message":{},"f:reason":{}}}}},` +
		`"manager":"causeway","operation":"Update","subresource":"status","time":"2026-05-01T10:01:00Z"}],` +
		`"name":"api-main-us-east-1","namespace":"shop","ownerReferences":[{"apiVersion":"compute.datumapis.com/v1alpha","blockOwnerDeletion":true,"controller":true,` +
		`"kind":"Workload","name":"api","uid":"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c"}],"resourceVersion":"118270","uid":"1f5d6f0c-6a7b-4b49-8f3c-0a2f3a4b5c6d"},` +
		`"spec":{"cityCode":"us-east-1","placementName":"main","scaleSettings":{"minReplicas":3},"template":{"spec":{"networkInterfaces":[{"network":{"name":"default"}}],` +
		`"runtime":{"class":"general-purpose","sandbox":{"containers":[{"image":"registry.example.com/shop/api:1.2.3","name":"app","ports":[{"name":"http","port":8080}]}]}}}},` +
		`"workloadRef":{"name":"api","uid":"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c"}},` +
		`"status":{"conditions":[{"lastTransitionTime":"2026-05-01T10:01:00Z","message":"1 of 3 instances is repeatedly exiting and restarting.","observedGeneration":1,"reason":"InstanceCrashing","status":"False","type":"Available"}],` +
		`"currentReplicas":3,"desiredReplicas":3,"readyReplicas":2,"replicas":3}}`,

	"Workload": `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{` +
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"compute.datumapis.com/v1alpha\",\"kind\":\"Workload\",\"metadata\":{\"annotations\":{},\"name\":\"api\",\"namespace\":\"shop\"},` +
		`\"spec\":{\"placements\":[{\"cityCodes\":[\"us-east-1\"],\"name\":\"main\",\"scaleSettings\":{\"minReplicas\":3}}],\"template\":{\"spec\":{\"networkInterfaces\":[{\"network\":{\"name\":\"default\"}}],` +
		`\"runtime\":{\"class\":\"general-purpose\",\"sandbox\":{\"containers\":[{\"image\":\"registry.example.com/shop/api:1.2.3\",\"name\":\"app\"}]}}}}}}\n"},` +
		`"creationTimestamp":"2026-05-01T10:00:00Z","finalizers":["compute.datumapis.com/workload-controller"],"generation":1,` +
		`"managedFields":[` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{".":{},` +
		`"f:placements":{".":{},"k:{\"name\":\"main\"}":{".":{},"f:cityCodes":{},"f:name":{},"f:scaleSettings":{".":{},"f:minReplicas":{}}}},"f:template":{".":{},"f:spec":{".":{},"f:runtime":{}}}}},` +
		`"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-05-01T10:00:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"compute.datumapis.com/workload-controller\"":{}}}},` +
		`"manager":"compute-manager","operation":"Update","time":"2026-05-01T10:00:00Z"},` +
		`{"apiVersion":"compute.datumapis.com/v1alpha","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},` +
		`"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:deployments":{},"f:placements":{".":{},"k:{\"name\":\"main\"}":{".":{},"f:conditions":{},` +
		`"f:name":{},"f:replicas":{}}},"f:replicas":{}}},"manager":"compute-manager","operation":"Update","subresource":"status","time":"2026-05-01T10:01:00Z"}],` +
		`"name":"api","namespace":"shop","resourceVersion":"118271","uid":"7b3a4b49-8f3c-4a2f-9a4b-5c6d1f5d6f0c"},` +
		`"spec":{"placements":[{"cityCodes":["us-east-1"],"name":"main","scaleSettings":{"minReplicas":3}}],"template":{"spec":{"networkInterfaces":[{"network":{"name":"default"}}],` +
		`"runtime":{"class":"general-purpose","sandbox":{"containers":[{"image":"registry.example.com/shop/api:1.2.3","name":"app","ports":[{"name":"http","port":8080}]}]}}}}},` +
		`"status":{"conditions":[{"lastTransitionTime":"2026-05-01T10:01:00Z","message":"1 of 3 instances is repeatedly exiting and restarting.","observedGeneration":1,"reason":"InstanceCrashing","status":"False","type":"Available"}],` +
		`"placements":[{"conditions":[{"lastTransitionTime":"2026-05-01T10:01:00Z","message":"1 of 3 instances is repeatedly exiting and restarting.","observedGeneration":1,"reason":"InstanceCrashing","status":"False","type":"Available"}],"name":"main","replicas":3}],"replicas":3}}`,
}
