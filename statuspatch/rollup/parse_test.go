package rollup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		reason, message string
		want            rollup.Sentence
	}{
		"the default":               {"InstancesProvisioning", "Instances are being provisioned", rollup.Sentence{Default: true}},
		"the default without any":   {"InstancesProvisioning", "No instances available yet", rollup.Sentence{Default: true}},
		"a phrase alone":            {"ImageUnavailable", "1 of 1 instances could not pull its image.", rollup.Sentence{Count: 1, Of: 1}},
		"a detail":                  {"Failed", "2 of 3 instances have failed: out of cheese!", rollup.Sentence{Count: 2, Of: 3, Rest: "out of cheese!"}},
		"a further sentence":        {"Failed", "2 of 3 instances have failed. 1 of 3 instances has stopped.", rollup.Sentence{Count: 2, Of: 3, Rest: "1 of 3 instances has stopped."}},
		"a count of the rest":       {"Failed", "2 of 9 instances have failed. 1 more instance is not running for other reasons.", rollup.Sentence{Count: 2, Of: 9, Rest: "1 more instance is not running for other reasons."}},
		"an unknown reason":         {"Out:Of,Cheese", "1 of 1 instances is not running (Out:Of,Cheese).", rollup.Sentence{Count: 1, Of: 1}},
		"a reason named only since": {"Failed", "1 of 1 instances is not running (Failed): x.", rollup.Sentence{Count: 1, Of: 1, Rest: "x."}},
		"a deployment's base":       {"Anything", `placement "u\"s": some text`, rollup.Sentence{Quoted: true, Placement: `u"s`, Rest: "some text"}},
		"a nameless placement":      {"Anything", `placement "": x`, rollup.Sentence{Quoted: true, Rest: "x"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := rollup.Parse(tc.reason, tc.message)
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok {
				t.Errorf("Parse(%q, %q) = %t (-want +got):\n%s", tc.reason, tc.message, ok, diff)
			}
		})
	}
}

func TestNotInGrammar(t *testing.T) {
	tests := map[string]struct{ reason, message string }{
		"empty":                               {"Failed", ""},
		"a platform's sentence":               {"QuotaNotGranted", "1 of 1 desired instances pending quota"},
		"a default under another reason":      {"NetworkProvisioning", "Instances are being provisioned"},
		"the phrase of another reason":        {"Failed", "1 of 1 instances could not pull its image."},
		"the plural for one":                  {"Failed", "1 of 1 instances have failed."},
		"the singular for two":                {"Failed", "2 of 2 instances has failed."},
		"none of them":                        {"Failed", "0 of 2 instances have failed."},
		"a number of another form":            {"Failed", "01 of 2 instances has failed."},
		"a number with a sign":                {"Failed", "+1 of 2 instances has failed."},
		"a number beyond all bounds":          {"Failed", "1 of 99999999999999999999 instances has failed."},
		"no stop":                             {"Failed", "1 of 1 instances has failed"},
		"no stop after the detail":            {"Failed", "1 of 1 instances has failed: x"},
		"no detail":                           {"Failed", "1 of 1 instances has failed: "},
		"more than further sentences":         {"Failed", "1 of 1 instances has failed. Sorry."},
		"a further sentence without a space":  {"Failed", "1 of 1 instances has failed.1 of 1 instances has stopped."},
		"a further sentence of foreign words": {"Failed", "1 of 2 instances has failed. 1 of 2 instances has fun."},
		"a further sentence cut short":        {"Failed", "1 of 1 instances has failed. 1 of 1 instances"},
		"a rest of none":                      {"Failed", "1 of 1 instances has failed. 0 more instances are not running for other reasons."},
		"text after the count of the rest":    {"Failed", "1 of 1 instances has failed. 2 more instances are not running for other reasons. x"},
		"the platform's word on placements":   {"NoMatchingLocations", `Placement "x" matches no location that is Ready and offers compute`},
		"a placement without quotes":          {"Failed", "placement us: x"},
		"a placement with an open quote":      {"Failed", `placement "us: x`},
		"a placement without a text":          {"Failed", `placement "us": `},
		"a placement without a colon":         {"Failed", `placement "us" x`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if rollup.InGrammar(tc.reason, tc.message) {
				t.Errorf("InGrammar(%q, %q) = true, want false", tc.reason, tc.message)
			}
		})
	}
}
