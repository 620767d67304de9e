package rollup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func TestReadInstance(t *testing.T) {
	const detail = `Container "app" keeps exiting (last exit code 1); restarting`
	ready := cond("Ready", "True", "Available", "Instance is ready")
	programmed := cond("Programmed", "True", "Programmed", "")
	tests := map[string]struct {
		deleting   bool
		conditions []metav1.Condition
		want       rollup.Contribution
	}{
		"no conditions at all are progress": {},
		"Ready alone is enough": {
			conditions: []metav1.Condition{ready},
			want:       rollup.Contribution{Ready: true},
		},
		"Available=False contradicts a stale Ready": {
			conditions: []metav1.Condition{ready, cond("Available", "False", "InstanceCrashing", detail), programmed},
			want:       rollup.Contribution{Reason: "InstanceCrashing", Message: detail},
		},
		"Available=Unknown with a failure contradicts a stale Ready": {
			conditions: []metav1.Condition{ready, cond("Available", "Unknown", "ImageUnavailable", "")},
			want:       rollup.Contribution{Reason: "ImageUnavailable"},
		},
		"Available=Unknown while provisioning does not contradict Ready": {
			conditions: []metav1.Condition{ready, cond("Available", "Unknown", "Provisioning", "")},
			want:       rollup.Contribution{Ready: true},
		},
		"Available=Unknown while data is awaited does not contradict Ready": {
			conditions: []metav1.Condition{cond("Ready", "True", "Resolving", ""), cond("Available", "Unknown", "AwaitingPropagation", "")},
			want:       rollup.Contribution{Ready: true},
		},
		"Available=Unknown for want of quota contradicts a stale Ready": {
			conditions: []metav1.Condition{ready, cond("Available", "Unknown", "PendingQuota", "")},
			want:       rollup.Contribution{Reason: "QuotaNotGranted"},
		},
		"Available=Unknown for an unlisted reason does not contradict Ready": {
			conditions: []metav1.Condition{ready, cond("Available", "Unknown", "Mystery", "")},
			want:       rollup.Contribution{Ready: true},
		},
		"Programmed=False contradicts a stale Ready, here without a known cause": {
			conditions: []metav1.Condition{ready, cond("Programmed", "False", "ProgrammingInProgress", "")},
			want:       rollup.Contribution{},
		},
		"an older revision keeps Ready=True beside a failure reason": {
			conditions: []metav1.Condition{cond("Ready", "True", "InstanceCrashing", detail)},
			want:       rollup.Contribution{Reason: "InstanceCrashing", Message: detail},
		},
		"the older name Running is read as Available": {
			conditions: []metav1.Condition{ready, cond("Running", "False", "ImageUnavailable", "x")},
			want:       rollup.Contribution{Reason: "ImageUnavailable", Message: "x"},
		},
		"Running is ignored beside Available": {
			conditions: []metav1.Condition{cond("Running", "False", "ImageUnavailable", "x"), ready, cond("Available", "True", "Available", "")},
			want:       rollup.Contribution{Ready: true},
		},
		"of repeated conditions the first counts": {
			conditions: []metav1.Condition{ready, cond("Ready", "False", "Failed", "x")},
			want:       rollup.Contribution{Ready: true},
		},
		"the highest reason in the table wins, whichever condition has it": {
			conditions: []metav1.Condition{
				cond("Ready", "False", "Stopped", "a"), cond("Available", "False", "ImageUnavailable", "b"), cond("Programmed", "False", "ConfigurationError", "c"),
			},
			want: rollup.Contribution{Reason: "ConfigurationError", Message: "c"},
		},
		"the message prefers a sentence that is not stock": {
			conditions: []metav1.Condition{
				cond("Programmed", "Unknown", "ImageUnavailable", "third"),
				cond("Ready", "Unknown", "ImageUnavailable", "The instance image could not be pulled"),
				cond("Available", "Unknown", "ImagePullBackOff", "second"),
			},
			want: rollup.Contribution{Reason: "ImageUnavailable", Message: "second"},
		},
		"a stock sentence alone is no message": {
			conditions: []metav1.Condition{cond("Ready", "False", "Failed", "Instance failed.")},
			want:       rollup.Contribution{Reason: "Failed"},
		},
		"an unlisted reason with False is an unknown failure": {
			conditions: []metav1.Condition{cond("Ready", "False", "OutOfCheese", "no more cheese")},
			want:       rollup.Contribution{Reason: "OutOfCheese", Message: "no more cheese"},
		},
		"an unlisted reason with Unknown is progress": {
			conditions: []metav1.Condition{cond("Ready", "Unknown", "OutOfCheese", "no more cheese")},
			want:       rollup.Contribution{},
		},
		"an odd status reads as Unknown": {
			conditions: []metav1.Condition{cond("Ready", "Maybe", "OutOfCheese", ""), cond("Available", "", "Failed", "x")},
			want:       rollup.Contribution{Reason: "Failed", Message: "x"},
		},
		"an unknown failure outranks suspension": {
			conditions: []metav1.Condition{cond("Ready", "False", "Suspended", ""), cond("Programmed", "False", "OutOfCheese", "x")},
			want:       rollup.Contribution{Reason: "OutOfCheese", Message: "x"},
		},
		"two unknown failures go by name": {
			conditions: []metav1.Condition{cond("Ready", "False", "Zebra", "z"), cond("Programmed", "False", "Apple", "a")},
			want:       rollup.Contribution{Reason: "Apple", Message: "a"},
		},
		"a listed default is progress": {
			conditions: []metav1.Condition{cond("Ready", "False", "ProvisioningInstances", "x")},
			want:       rollup.Contribution{},
		},
		"other conditions are ignored whatever they say": {
			conditions: []metav1.Condition{cond("Degraded", "False", "Fine", ""), cond("NetworkReady", "False", "InstanceCrashing", "x")},
			want:       rollup.Contribution{},
		},
		"QuotaGranted=False reads as quota whatever its reason": {
			conditions: []metav1.Condition{cond("QuotaGranted", "False", "QuotaBackendUnavailable", "try later")},
			want:       rollup.Contribution{Reason: "QuotaNotGranted", Message: "try later"},
		},
		"QuotaGranted=Unknown without a budget reads as quota": {
			conditions: []metav1.Condition{cond("QuotaGranted", "Unknown", "QuotaNoBudget", "no budget")},
			want:       rollup.Contribution{Reason: "QuotaNotGranted", Message: "no budget"},
		},
		"QuotaGranted=Unknown for another reason is progress": {
			conditions: []metav1.Condition{cond("QuotaGranted", "Unknown", "InstanceCrashing", "x")},
			want:       rollup.Contribution{},
		},
		"PendingQuota reads as quota and borrows the better message": {
			conditions: []metav1.Condition{cond("Ready", "False", "PendingQuota", "Quota exceeded"), cond("QuotaGranted", "False", "QuotaExceeded", "3 of 2 cores used")},
			want:       rollup.Contribution{Reason: "QuotaNotGranted", Message: "3 of 2 cores used"},
		},
		"an old quota refusal does not undo Ready": {
			conditions: []metav1.Condition{ready, cond("QuotaGranted", "False", "QuotaExceeded", "x")},
			want:       rollup.Contribution{Ready: true},
		},
		"ReferencedDataReady is read for listed reasons": {
			conditions: []metav1.Condition{cond("ReferencedDataReady", "Unknown", "Resolving", "")},
			want:       rollup.Contribution{Reason: "Resolving"},
		},
		"ReferencedDataReady is ignored for unlisted ones": {
			conditions: []metav1.Condition{cond("ReferencedDataReady", "False", "Mystery", "x")},
			want:       rollup.Contribution{},
		},
		"Available=True with a failure reason speaks once Ready is not True": {
			conditions: []metav1.Condition{cond("Ready", "False", "Pending", ""), cond("Available", "True", "InstanceCrashing", detail)},
			want:       rollup.Contribution{Reason: "InstanceCrashing", Message: detail},
		},
		"a True condition waiting for data is no failure": {
			conditions: []metav1.Condition{cond("Ready", "False", "Pending", ""), cond("Available", "True", "AwaitingPropagation", "x")},
			want:       rollup.Contribution{},
		},
		"a reason that the API would refuse is never passed on": {
			conditions: []metav1.Condition{cond("Ready", "False", "no such, reason!", "x")},
			want:       rollup.Contribution{Reason: "NotRunning", Message: "x"},
		},
		"an empty reason with False is still a failure": {
			conditions: []metav1.Condition{cond("Available", "False", "", "")},
			want:       rollup.Contribution{Reason: "NotRunning"},
		},
		"a reason that is too long is never passed on": {
			conditions: []metav1.Condition{cond("Ready", "False", strings.Repeat("A", 1025), "")},
			want:       rollup.Contribution{Reason: "NotRunning"},
		},
		"a deleting Instance gives no reason": {
			deleting:   true,
			conditions: []metav1.Condition{cond("Ready", "False", "Failed", "x")},
			want:       rollup.Contribution{Deleting: true},
		},
		"a deleting Instance counts while it is ready": {
			deleting:   true,
			conditions: []metav1.Condition{ready},
			want:       rollup.Contribution{Ready: true, Deleting: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rollup.ReadInstance(tc.deleting, tc.conditions)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ReadInstance(%t, %v) (-want +got):\n%s", tc.deleting, tc.conditions, diff)
			}
		})
	}
}

func TestInstanceText(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain text stays":                     {`container "app": 100% of %s`, `container "app": 100% of %s`},
		"line breaks become one space":         {"exec: \r\n\tno such file\n", "exec: no such file"},
		"control characters become one space":  {"\x1b[31mred\x00\x07text\u0085x", "[31mred text x"},
		"other spaces become one space":        {"a\u00a0\u2003 \u2028b", "a b"},
		"marks that reverse the text go":       {"a\u202eb", "a b"},
		"a joiner within an emoji stays":       {"👩\u200d🚀", "👩\u200d🚀"},
		"invalid UTF-8 is replaced":            {"a\xffb\xc3", "a\ufffdb\ufffd"},
		"1,024 bytes stay":                     {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"1,025 bytes are cut with a mark":      {strings.Repeat("x", 1025), strings.Repeat("x", 1021) + "..."},
		"the cut is on a rune":                 {strings.Repeat("€", 342), strings.Repeat("€", 340) + "..."},
		"spaces beyond the bound are no text":  {strings.Repeat("x", 1024) + strings.Repeat(" ", 90), strings.Repeat("x", 1024)},
		"no space is left before the mark":     {strings.Repeat("x", 1020) + " yyyyyyyy", strings.Repeat("x", 1020) + "..."},
		"47,000 bytes ending inside a rune":    {strings.Repeat("€", 15666) + "\xe2\x82", strings.Repeat("€", 340) + "..."},
		"many spaces count as one for the cut": {strings.Repeat("x      ", 700), strings.Repeat("x ", 510) + "x..."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rollup.ReadInstance(false, []metav1.Condition{cond("Ready", "False", "Failed", tc.in)})
			if diff := cmp.Diff(rollup.Contribution{Reason: "Failed", Message: tc.want}, got); diff != "" {
				t.Errorf("ReadInstance with the message %q (-want +got):\n%s", tc.in, diff)
			}
		})
	}
}
