package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// What a customer who submits a Workload is told, with the refusal in force
// from the start and no platform: nothing but these requests happens.
func TestRefusal(t *testing.T) {
	r := startRefusals(t, environment.Options{})
	r.run("answers", testAnswers)
	r.run("the answer as the server sent it", testRawAnswer)
	r.run("a name that the server makes", testGeneratedName)
	r.run("more causes than anybody reads", testManyCauses)
	r.run("what the schema refuses", testSchemaFirst)
	r.run("accepted", testAccepted)
	r.run("lost defaults", testLostDefaults)
	r.run("the default class", testDefaultClass)
	r.run("what is never sent", testNeverSent)
	r.run("odd objects", testOddObjects)
	r.run("doubt", testDoubt)
	r.run("only warning", testOnlyWarning)
	r.alwaysAnswered()
}

// ways are how a Workload may come to add what it adds. Each returns the answer
// and leaves nothing stored but what was there before.
var ways = map[string]func(*refusals, *computeapi.Workload) answer{
	"create":  func(r *refusals, w *computeapi.Workload) answer { return r.create(w) },
	"dry run": func(r *refusals, w *computeapi.Workload) answer { return r.create(w, client.DryRunAll) },
	"server-side apply": func(r *refusals, w *computeapi.Workload) answer {
		return r.apply(w)
	},
	"update": func(r *refusals, w *computeapi.Workload) answer {
		stored := r.storedWithout(w)
		w.ResourceVersion = stored.ResourceVersion
		return r.update(w)
	},
	// kubectl patches what changed, and with it the annotation that it keeps.
	"client-side apply": func(r *refusals, w *computeapi.Workload) answer {
		stored := r.storedWithout(w)
		manifest, err := json.Marshal(w)
		require.NoError(r.t, err)
		annotations := map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(manifest)}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}, "spec": w.Spec})
		require.NoError(r.t, err)
		return r.patch(stored, string(patch))
	},
	"server-side apply of a change": func(r *refusals, w *computeapi.Workload) answer {
		r.must(r.apply(without(w)))
		return r.apply(w)
	},
	"dry run of an update": func(r *refusals, w *computeapi.Workload) answer {
		stored := r.storedWithout(w)
		w.ResourceVersion = stored.ResourceVersion
		return r.ask(func(ctx context.Context, c client.Client) error { return c.Update(ctx, w, client.DryRunAll) })
	},
}

// without is a Workload that adds nothing.
func without(w *computeapi.Workload) *computeapi.Workload {
	w = w.DeepCopy()
	containers := w.Spec.Template.Spec.Runtime.Sandbox.Containers
	for i := range containers {
		containers[i].SecurityContext = nil
	}
	return w
}

func (r *refusals) storedWithout(w *computeapi.Workload) *computeapi.Workload {
	r.t.Helper()
	w = without(w)
	r.must(r.create(w))
	return w
}

func testAnswers(r *refusals) {
	const (
		fromWeb = `is not granted by runtime class "web", which grants NET_BIND_SERVICE; `
		all     = "ALL may not be added; list each capability"
	)
	for name, tc := range map[string]struct {
		tweaks []computeapi.WorkloadTweak
		want   []metav1.StatusCause
	}{
		"one": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE", "SYS_ADMIN")},
			[]metav1.StatusCause{
				forbidden(0, 1, `capability "SYS_ADMIN" `+fromWeb+`runtime class "general-purpose" grants everything this object adds`),
			},
		},
		"several": {
			[]computeapi.WorkloadTweak{
				computeapi.WithClass("web"), computeapi.WithContainer("log", "log:1"), computeapi.WithContainer("vpn", "vpn:1"),
				inContainer(0, "SYS_TIME", "NET_BIND_SERVICE"), inContainer(2, "SYS_TIME", "NET_BIND_SERVICE", "NET_ADMIN"),
			},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "SYS_TIME" `+fromWeb+`runtime class "general-purpose" grants everything this object adds`),
				forbidden(2, 0, `capability "SYS_TIME" `+fromWeb+`runtime class "general-purpose" grants everything this object adds`),
				forbidden(2, 2, `capability "NET_ADMIN" `+fromWeb+`runtime class "general-purpose" grants everything this object adds`),
			},
		},
		"the first class that grants it": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN")},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "NET_ADMIN" `+fromWeb+`runtime class "edge" grants everything this object adds`),
			},
		},
		"no class grants it": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN", "FLY")},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "NET_ADMIN" `+fromWeb+`no runtime class grants everything this object adds`),
				forbidden(0, 1, `capability "FLY" `+fromWeb+`no runtime class grants everything this object adds`),
			},
		},
		"a long list of grants": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("general-purpose"), computeapi.WithAdd("FLY")},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "FLY" is not granted by runtime class "general-purpose", which grants AUDIT_CONTROL, `+
					`AUDIT_READ, AUDIT_WRITE, BLOCK_SUSPEND, BPF, CHECKPOINT_RESTORE, CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, `+
					`... and 31 more; no runtime class grants everything this object adds`),
			},
		},
		"ALL, however written, dropped or not": {
			[]computeapi.WorkloadTweak{
				computeapi.WithClass("general-purpose"), computeapi.WithAdd("ALL", "CAP_ALL", "CAP_CAP_ALL"), computeapi.WithDrop("ALL"),
			},
			[]metav1.StatusCause{forbidden(0, 0, all), forbidden(0, 1, all), forbidden(0, 2, all)},
		},
		"ALL where nothing is granted": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("unikernel"), computeapi.WithAdd("ALL")},
			[]metav1.StatusCause{forbidden(0, 0, all)},
		},
		"a prefix": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("CAP_NET_BIND_SERVICE", "CAP_CAP_NET_BIND_SERVICE")},
			[]metav1.StatusCause{
				{
					Type: metav1.CauseTypeFieldValueInvalid, Field: addAt("Workload", 0, 0),
					Message: `Invalid value: "CAP_NET_BIND_SERVICE": write "NET_BIND_SERVICE", without the CAP_ prefix`,
				},
				{
					Type: metav1.CauseTypeFieldValueInvalid, Field: addAt("Workload", 0, 1),
					Message: `Invalid value: "CAP_CAP_NET_BIND_SERVICE": write "NET_BIND_SERVICE", without the CAP_ prefix`,
				},
			},
		},
		"a prefix of what is not granted": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("CAP_NET_ADMIN", "CAP_")},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "NET_ADMIN" (written "CAP_NET_ADMIN") `+fromWeb+`no runtime class grants everything this object adds`),
				{
					Type: metav1.CauseTypeFieldValueInvalid, Field: addAt("Workload", 0, 1),
					Message: `Invalid value: "CAP_": that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`,
				},
			},
		},
		"a drop excuses nothing": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"), computeapi.WithDrop("NET_ADMIN", "ALL")},
			[]metav1.StatusCause{
				forbidden(0, 0, `capability "NET_ADMIN" `+fromWeb+`runtime class "edge" grants everything this object adds`),
			},
		},
		"a class without the feature": {
			[]computeapi.WorkloadTweak{
				computeapi.WithClass("unikernel"), computeapi.WithContainer("vpn", "vpn:1"), computeapi.WithContainer("log", "log:1"),
				inContainer(0, "NET_BIND_SERVICE"), inContainer(1, "NET_ADMIN", "NET_BIND_SERVICE"),
			},
			[]metav1.StatusCause{
				forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`),
				forbidden(1, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`),
			},
		},
		"no class stands for the default one": {
			[]computeapi.WorkloadTweak{computeapi.WithAdd("NET_BIND_SERVICE")},
			[]metav1.StatusCause{
				forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`),
			},
		},
		"a class that plays tricks on a terminal": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("a\"\n\x1b[1A"), computeapi.WithAdd("CHOWN")},
			[]metav1.StatusCause{{
				Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
				Message: `Unsupported value: "a\"\n\x1b[1A": runtime class "a\"\n\x1b[1A" does not exist; ` +
					`there are "edge", "general-purpose", "unikernel", "web"`,
			}},
		},
		"an unknown class": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("Web"), computeapi.WithAdd("NET_BIND_SERVICE", "CAP_CHOWN")},
			[]metav1.StatusCause{
				{
					Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
					Message: `Unsupported value: "Web": runtime class "Web" does not exist; there are "edge", "general-purpose", "unikernel", "web"`,
				},
				{
					Type: metav1.CauseTypeFieldValueInvalid, Field: addAt("Workload", 0, 1),
					Message: `Invalid value: "CAP_CHOWN": write "CHOWN", without the CAP_ prefix`,
				},
			},
		},
	} {
		r.run(name, func(r *refusals) {
			for way, send := range ways {
				r.run(way, func(r *refusals) {
					w := workload(objectName(r.t.Name()), tc.tweaks...)
					assert.Equal(r.t, invalid("Workload", w.Name, tc.want...), send(r, w.DeepCopy()))

					stored := &computeapi.Workload{}
					err := r.customer.Get(r.ctx, client.ObjectKeyFromObject(w), stored)
					require.NoError(r.t, client.IgnoreNotFound(err))
					if err == nil {
						assert.Equal(r.t, without(w).Spec, stored.Spec, "what stays stored")
						assert.Empty(r.t, stored.Annotations)
					}
				})
			}
		})
	}
}

// testRawAnswer is about the bytes, of which kubectl prints message and causes.
func testRawAnswer(r *refusals) {
	config := rest.CopyConfig(r.Config(environment.Customer))
	config.GroupVersion = &computeapi.GroupVersion
	config.APIPath = "/apis"
	config.ContentType = "application/json"
	config.NegotiatedSerializer = codecs
	c, err := rest.RESTClientFor(config)
	require.NoError(r.t, err)
	body, err := json.Marshal(workload("raw", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN")))
	require.NoError(r.t, err)

	var code int
	sent, err := c.Post().Namespace(namespace).Resource("workloads").Body(body).Do(r.ctx).StatusCode(&code).Raw()
	require.Error(r.t, err)
	assert.Equal(r.t, 422, code)
	const at, text = `spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]`,
		`Forbidden: capability \"NET_ADMIN\" is not granted by runtime class \"web\", which grants NET_BIND_SERVICE; ` +
			`runtime class \"edge\" grants everything this object adds`
	assert.Equal(r.t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"admission webhook \"workloads.capabilities.causeway.dev\" denied the request: `+
		`Workload.compute.datumapis.com \"raw\" is invalid: `+at+`: `+text+`",`+
		`"reason":"Invalid","details":{"name":"raw","group":"compute.datumapis.com","kind":"Workload",`+
		`"causes":[{"reason":"FieldValueForbidden","message":"`+text+`","field":"`+at+`"}]},"code":422}`+"\n", string(sent))
}

// testGeneratedName: the name exists before the webhook is asked, and so the
// answer tells it, though nothing of that name is stored.
func testGeneratedName(r *refusals) {
	w := workload("", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"))
	w.GenerateName = "made-"
	got := r.create(w)
	require.NotNil(r.t, got.Status)
	name := got.Status.Details.Name
	assert.Regexp(r.t, "^made-[a-z0-9]+$", name)
	assert.Equal(r.t, invalid("Workload", name, forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", `+
		`which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`)), got)
}

// testManyCauses: the answer stays small however much is wrong, and says how much
// it leaves out.
func testManyCauses(r *refusals) {
	w := workload("many", computeapi.WithClass("web"))
	tooMany(w)
	got := r.create(w)
	require.NotNil(r.t, got.Status)
	causes := got.Status.Details.Causes
	require.Len(r.t, causes, 101)
	for i, c := range causes[:100] {
		assert.Equal(r.t, forbidden(i/64, i%64, `capability "`+w.Spec.Template.Spec.Runtime.Sandbox.Containers[i/64].SecurityContext.Capabilities.Add[i%64]+
			`" is not granted by runtime class "web", which grants NET_BIND_SERVICE; no runtime class grants everything this object adds`), c)
	}
	assert.Equal(r.t, forbidden(1, 36, "... and 92 more"), causes[100])
	assert.Equal(r.t, invalid("Workload", "many", causes...), got)
}

// tooMany gives a Workload three containers that add 64 capabilities each, which
// no kernel knows.
func tooMany(w *computeapi.Workload) {
	computeapi.WithContainer("second", "app:1")(w)
	computeapi.WithContainer("third", "app:1")(w)
	for i := range w.Spec.Template.Spec.Runtime.Sandbox.Containers {
		var add []string
		for k := range 64 {
			add = append(add, "FLY_"+string(rune('A'+i))+string(rune('A'+k/26))+string(rune('A'+k%26)))
		}
		setAdd(w, i, add...)
	}
}

// testSchemaFirst: lower case never comes as far as the webhook.
func testSchemaFirst(r *refusals) {
	before := r.calls()
	for _, name := range []string{"all", "net_admin", "Net_Admin", " NET_ADMIN", "CAP_net_admin"} {
		w := workload("schema", computeapi.WithClass("web"), computeapi.WithAdd("SYS_ADMIN", name))
		got := r.create(w)
		require.NotNil(r.t, got.Status, name)
		assert.Equal(r.t, []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: addAt("Workload", 0, 1),
			Message: `Invalid value: "` + name + `": ` + addAt("Workload", 0, 1) + ` in body should match '^[A-Z_]+$'`,
		}}, got.Status.Details.Causes)
		assert.Equal(r.t, `Workload.compute.datumapis.com "schema" is invalid: `+got.Status.Details.Causes[0].Field+": "+
			got.Status.Details.Causes[0].Message, got.Status.Message)
		assert.EqualValues(r.t, 422, got.Status.Code)
	}
	assert.Empty(r.t, since(before, r.calls()))
}

func testAccepted(r *refusals) {
	for name, tweaks := range map[string][]computeapi.WorkloadTweak{
		"granted":          {computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE")},
		"the other class":  {computeapi.WithClass("edge"), computeapi.WithAdd("NET_BIND_SERVICE", "NET_ADMIN")},
		"every drop":       {computeapi.WithClass("web"), computeapi.WithDrop("ALL", "CAP_ALL", "SYS_ADMIN", "FLY"), computeapi.WithAdd("NET_BIND_SERVICE")},
		"adds nothing":     {computeapi.WithClass("unikernel")},
		"no class at all":  nil,
		"an unknown class": {computeapi.WithClass("nosuch"), computeapi.WithDrop("ALL")},
	} {
		r.run(name, func(r *refusals) {
			for way, send := range ways {
				r.run(way, func(r *refusals) {
					assert.Equal(r.t, accepted(), send(r, workload(objectName(r.t.Name()), tweaks...)))
				})
			}
		})
	}
}

// testLostDefaults: general-purpose adds ten capabilities to containers that
// state none.
func testLostDefaults(r *refusals) {
	const from = ` of runtime class "general-purpose" that its add does not restate: `
	for name, tc := range map[string]struct {
		tweaks []computeapi.WorkloadTweak
		want   []string
	}{
		"all of them": {
			[]computeapi.WorkloadTweak{computeapi.WithAdd("NET_ADMIN")},
			[]string{`container "app" loses defaults` + from +
				"CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, NET_BIND_SERVICE, SETFCAP, SETGID, SETPCAP, SETUID"},
		},
		"restated or dropped by name": {
			[]computeapi.WorkloadTweak{
				computeapi.WithAdd("NET_ADMIN", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL"),
				computeapi.WithDrop("SETFCAP", "SETGID", "ALL"),
			},
			[]string{`container "app" loses defaults` + from + "NET_BIND_SERVICE, SETPCAP, SETUID"},
		},
		"none": {
			[]computeapi.WorkloadTweak{computeapi.WithAdd(
				"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID")},
			nil,
		},
		"a name that plays tricks on a terminal": {
			[]computeapi.WorkloadTweak{
				computeapi.WithAdd("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP"),
				func(w *computeapi.Workload) {
					w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Name = "b\u00fc\"\n\x1b[1A"
				},
			},
			[]string{"container \"b\u00fc\\\"\\n\\x1b[1A\" loses defaults" + from + "SETUID"},
		},
		"one warning for each container": {
			[]computeapi.WorkloadTweak{
				computeapi.WithContainer("log", "log:1"), computeapi.WithContainer("vpn", "vpn:1"), computeapi.WithDrop("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"),
				inContainer(2, "NET_ADMIN", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETFCAP", "SETGID", "SETPCAP"),
				computeapi.WithAdd("KILL", "SETFCAP", "SETGID", "SETPCAP", "SETUID"),
			},
			[]string{
				`container "app" loses defaults` + from + "NET_BIND_SERVICE",
				`container "vpn" loses defaults` + from + "NET_BIND_SERVICE, SETUID",
			},
		},
	} {
		r.run(name, func(r *refusals) {
			for way, send := range ways {
				r.run(way, func(r *refusals) {
					w := workload(objectName(r.t.Name()), append(tc.tweaks, computeapi.WithClass("general-purpose"))...)
					assert.Equal(r.t, accepted(tc.want...), send(r, w))
				})
			}
		})
	}
}

// testDefaultClass: a Workload without a class has the default one, if there is
// exactly one.
func testDefaultClass(r *refusals) {
	sendAll := func(r *refusals, want func(name string) answer) {
		r.t.Helper()
		r.until(workload("settling", computeapi.WithAdd("NET_BIND_SERVICE")), want("settling"))
		for way, send := range ways {
			w := workload(objectName(r.t.Name(), way), computeapi.WithAdd("NET_BIND_SERVICE"))
			assert.Equal(r.t, want(w.Name), send(r, w), way)
		}
	}
	required := func(text string) func(string) answer {
		return func(name string) answer {
			return invalid("Workload", name, metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueRequired, Field: "spec.template.spec.runtime.class", Message: "Required value: " + text,
			})
		}
	}
	defer r.until(workload("settling", computeapi.WithAdd("CHOWN")), invalid("Workload", "settling",
		forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "general-purpose" grants everything this object adds`)))
	defer r.setDefaults("unikernel")

	r.run("none", func(r *refusals) {
		r.setDefaults()
		sendAll(r, required(`no runtime class is the default; choose one of "edge", "general-purpose", "unikernel", "web"`))
	})
	r.run("another one", func(r *refusals) {
		r.setDefaults("web")
		sendAll(r, func(string) answer { return accepted() })
		// Refusals may rest on classes that were read up to a second ago.
		w := workload("another", computeapi.WithAdd("NET_ADMIN"))
		r.until(w, invalid("Workload", w.Name, forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", `+
			`which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`)))
	})
	r.run("two", func(r *refusals) {
		r.setDefaults("web", "edge")
		sendAll(r, required(`"edge" and "web" are both the default; choose one`))
	})
	r.run("three", func(r *refusals) {
		r.setDefaults("web", "edge", "unikernel")
		sendAll(r, required(`"edge", "unikernel", "web" are all the default; choose one`))
	})
}
