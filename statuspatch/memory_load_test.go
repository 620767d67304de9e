package statuspatch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// BenchmarkMemory is what one Instance costs: while a first list is gathered,
// and once it is in the ledger. 5 in 100 fail, each with a text of its own.
func BenchmarkMemory(b *testing.B) {
	const instances, perDeployment = 100_000, 20
	for b.Loop() {
		_, before := usage()
		l := ledger.New(nil)
		source, _, _ := newSources(l)
		transform := source.Transformer()
		list := make([]any, 0, instances)
		for n := range instances {
			o := &instanceObject{}
			if err := unmarshal(largeInstance(n, n/perDeployment), o); err != nil {
				b.Fatal(err)
			}
			slim, err := transform(o)
			if err != nil {
				b.Fatal(err)
			}
			list = append(list, slim)
		}
		_, gathered := usage()
		if err := source.Replace(list, "1"); err != nil {
			b.Fatal(err)
		}
		list = nil
		_, kept := usage()
		b.ReportMetric(float64(gathered-before)/instances, "gathering-B/instance")
		b.ReportMetric(float64(kept-before)/instances, "kept-B/instance")
		runtime.KeepAlive(l)
	}
}

// What is let go of while a list is gathered, nobody misses.
func TestATransformedInstanceReadsTheSame(t *testing.T) {
	for _, n := range []int{0, 1} {
		whole, slim := &instanceObject{}, &instanceObject{}
		require.NoError(t, unmarshal(largeInstance(n, 7), whole))
		require.NoError(t, unmarshal(largeInstance(n, 7), slim))
		deleted := metav1.Now()
		whole.Metadata.DeletionTimestamp, slim.Metadata.DeletionTimestamp = &deleted, &deleted
		source, _, _ := newSources(ledger.New(nil))
		(&pods{}).follow(source)
		_, err := source.Transformer()(slim)
		require.NoError(t, err)
		assert.Equal(t, readInstance(whole), readInstance(slim))
		assert.Equal(t, observedInstance(whole), observedInstance(slim), "where Pods are observed")
		assert.Empty(t, slim.Metadata.Labels)
	}
}

// largeInstance is an Instance as the platform writes it.
func largeInstance(n, deployment int) []byte {
	status, reason, message := "True", "Available", "Instance is available"
	if n%20 == 0 {
		status, reason = "False", "InstanceCrashing"
		message = fmt.Sprintf("Container %q keeps exiting (last exit code %d); restarting", "app", n)
	}
	conditions := make([]string, 0, 4)
	for _, conditionType := range []string{"Programmed", "Available", "Ready", "QuotaGranted"} {
		conditions = append(conditions, fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q,"observedGeneration":3}`,
			conditionType, status, reason, message, epoch))
	}
	name := fmt.Sprintf("a-workload-of-some-name-%d-0123456789", deployment)
	uid := fmt.Sprintf("%08d-7f4e-4c5a-9b1d-000000000000", deployment)
	return fmt.Appendf(nil, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Instance","metadata":{
		"namespace":"customer-%d","name":"%s-%d","uid":"%08d-1111-4c5a-9b1d-000000000000","resourceVersion":"%d","generation":3,"creationTimestamp":%q,
		"labels":{"compute.datumapis.com/instance-index":"%d","compute.datumapis.com/workload-uid":%q,"compute.datumapis.com/workload-deployment-name":%q,
		"compute.datumapis.com/workload-deployment-uid":%q,"compute.datumapis.com/placement-name":"main","compute.datumapis.com/location":"us"},
		"finalizers":["compute.datumapis.com/instance-controller"],
		"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}}],
		"ownerReferences":[{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","name":%q,"uid":%q,"controller":true}]},
		"status":{"conditions":[%s]}}`,
		deployment%500, name, n, n, 1_000_000+n, epoch, n%20, uid, name, uid, name, uid, strings.Join(conditions, ","))
}
