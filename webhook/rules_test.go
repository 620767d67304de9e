package webhook

import "testing"

const (
	noClassDoes = "no runtime class grants everything this object adds"
	generalDoes = `runtime class "general-purpose" grants everything this object adds`
)

func TestRuleGrant(t *testing.T) {
	testVerdicts(t, map[string]verdictCase{
		"the class grants something else, another class would do": {
			runtime: runtimeOf("web", ctr("app", "SYS_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes},
		},
		"dropping it as well is no excuse": {
			runtime: runtimeOf("web", ctr("app", "SYS_ADMIN").dropping("SYS_ADMIN", "ALL")),
			refused: []string{add0 + `[0]: Forbidden: capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes},
		},
		"odd spellings are refused by the canonical name and show the original": { // cases.md C4
			runtime: runtimeOf("web", ctr("app", "CAP_SYS_ADMIN", "cap_sys_admin", "Sys_Admin", " SYS_ADMIN")),
			refused: []string{
				add0 + `[0]: Forbidden: capability "SYS_ADMIN" (written "CAP_SYS_ADMIN") is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes,
				add0 + `[1]: Forbidden: capability "SYS_ADMIN" (written "cap_sys_admin") is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes,
				add0 + `[2]: Forbidden: capability "SYS_ADMIN" (written "Sys_Admin") is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes,
				add0 + `[3]: Forbidden: capability "SYS_ADMIN" (written " SYS_ADMIN") is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes,
			},
		},
		"a name no kernel knows is granted by no class": {
			runtime: runtimeOf("web", ctr("app", "SYS_ADMN")),
			refused: []string{add0 + `[0]: Forbidden: capability "SYS_ADMN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + noClassDoes},
		},
		"over ten grants are counted": {
			runtime: runtimeOf("general-purpose", ctr("app", "cap_sys_admn")),
			refused: []string{add0 + `[0]: Forbidden: capability "SYS_ADMN" (written "cap_sys_admn") is not granted by runtime class "general-purpose", which grants AUDIT_CONTROL, AUDIT_READ, AUDIT_WRITE, BLOCK_SUSPEND, BPF, CHECKPOINT_RESTORE, CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, ... and 31 more; ` + noClassDoes},
		},
		"ten grants are listed, sorted": {
			runtime: runtimeOf("ten", ctr("app", "SYS_ADMIN")),
			classes: []RuntimeClass{granting("ten", "SETUID", "SETPCAP", "SETGID", "SETFCAP", "NET_RAW", "KILL", "FSETID", "FOWNER", "CHOWN", "BPF")},
			refused: []string{add0 + `[0]: Forbidden: capability "SYS_ADMIN" is not granted by runtime class "ten", which grants BPF, CHOWN, FOWNER, FSETID, KILL, NET_RAW, SETFCAP, SETGID, SETPCAP, SETUID; ` + noClassDoes},
		},
		"a class with the feature may grant none": {
			runtime: runtimeOf("empty", ctr("app", "CHOWN")),
			classes: []RuntimeClass{granting("empty"), granting("b", "CHOWN", "KILL"), granting("a", "CHOWN")},
			refused: []string{add0 + `[0]: Forbidden: capability "CHOWN" is not granted by runtime class "empty", which grants none; runtime class "a" grants everything this object adds`},
		},
		"the alternative must serve all containers of the object": {
			runtime: runtimeOf("empty", ctr("app", "CHOWN"), ctr("log", "KILL")),
			classes: []RuntimeClass{granting("empty"), granting("a", "CHOWN"), granting("b", "CHOWN", "KILL")},
			refused: []string{
				add0 + `[0]: Forbidden: capability "CHOWN" is not granted by runtime class "empty", which grants none; runtime class "b" grants everything this object adds`,
				add1 + `[0]: Forbidden: capability "KILL" is not granted by runtime class "empty", which grants none; runtime class "b" grants everything this object adds`,
			},
		},
		"a class without the feature is no alternative, whatever it lists": {
			runtime: runtimeOf("empty", ctr("app", "CHOWN")),
			classes: []RuntimeClass{granting("empty"), func() RuntimeClass {
				c := featureless("a")
				c.Spec.Capabilities.GrantableCapabilities = []string{"CHOWN"}
				return c
			}()},
			refused: []string{add0 + `[0]: Forbidden: capability "CHOWN" is not granted by runtime class "empty", which grants none; ` + noClassDoes},
		},
		"what could break a line is escaped": {
			runtime: runtimeOf("web", ctr("app", "SYS\nADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "SYS\nADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + noClassDoes},
		},
	})
}

func TestRuleFeature(t *testing.T) {
	listing := featureless("listing")
	listing.Spec.Capabilities.GrantableCapabilities = []string{"CHOWN"}
	testVerdicts(t, map[string]verdictCase{
		"once a container, however much it adds": {
			runtime: runtimeOf("unikernel", ctr("app", "CHOWN", "KILL"), ctr("plain"), ctr("log", "cap_chown")),
			refused: []string{
				add0 + `: Forbidden: runtime class "unikernel" grants no capabilities; ` + generalDoes,
				at + `.sandbox.containers[2].securityContext.capabilities.add: Forbidden: runtime class "unikernel" grants no capabilities; ` + generalDoes,
			},
		},
		"the default class is named": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			refused: []string{add0 + `: Forbidden: runtime class "unikernel" grants no capabilities; ` + generalDoes},
		},
		"without the feature a list grants nothing": {
			runtime: runtimeOf("listing", ctr("app", "CHOWN")),
			classes: []RuntimeClass{listing},
			refused: []string{add0 + `: Forbidden: runtime class "listing" grants no capabilities; ` + noClassDoes},
		},
		"ALL has its own cause beside it": {
			runtime: runtimeOf("unikernel", ctr("app", "ALL", "CHOWN")),
			refused: []string{
				add0 + `: Forbidden: runtime class "unikernel" grants no capabilities; ` + noClassDoes,
				add0 + `[0]: Forbidden: ALL may not be added; list each capability`,
			},
		},
	})
}

func TestRuleAll(t *testing.T) {
	const text = "Forbidden: ALL may not be added; list each capability"
	all := granting("all", "ALL", "CHOWN")
	testVerdicts(t, map[string]verdictCase{
		"in lower case":           {runtime: runtimeOf("general-purpose", ctr("app", "all")), refused: []string{add0 + "[0]: " + text}}, // cases.md C5 a
		"with something dropped":  {runtime: runtimeOf("general-purpose", ctr("app", "ALL").dropping("SYS_ADMIN")), refused: []string{add0 + "[0]: " + text}},
		"with itself dropped":     {runtime: runtimeOf("general-purpose", ctr("app", "ALL").dropping("ALL")), refused: []string{add0 + "[0]: " + text}},
		"with a prefix and space": {runtime: runtimeOf("general-purpose", ctr("app", " cap_All ")), refused: []string{add0 + "[0]: " + text}},
		"in a class that lists it": {
			runtime: runtimeOf("all", ctr("app", "ALL")), classes: []RuntimeClass{all}, refused: []string{add0 + "[0]: " + text},
		},
		"beside a granted name": {
			runtime: runtimeOf("general-purpose", ctr("app", "CHOWN", "All")), refused: []string{add0 + "[1]: " + text},
		},
	})
}

func TestRuleSpelling(t *testing.T) {
	testVerdicts(t, map[string]verdictCase{
		"a granted name with the prefix": {
			runtime: runtimeOf("general-purpose", ctr("app", "CAP_SYS_ADMIN")),
			refused: []string{add0 + `[0]: Invalid value: "CAP_SYS_ADMIN": write "SYS_ADMIN", without the CAP_ prefix`},
		},
		"with the prefix in another case and spaces": {
			runtime: runtimeOf("general-purpose", ctr("app", " cap_sys_admin")),
			refused: []string{add0 + `[0]: Invalid value: " cap_sys_admin": write "SYS_ADMIN", without the CAP_ prefix`},
		},
		"a granted name in another case": {
			runtime: runtimeOf("general-purpose", ctr("app", "Sys_Admin")),
			refused: []string{add0 + `[0]: Invalid value: "Sys_Admin": write "SYS_ADMIN", in capitals and without spaces`},
		},
		"a granted name with a space": {
			runtime: runtimeOf("general-purpose", ctr("app", " SYS_ADMIN")),
			refused: []string{add0 + `[0]: Invalid value: " SYS_ADMIN": write "SYS_ADMIN", in capitals and without spaces`},
		},
		"the prefix alone names nothing that a class could grant": {
			runtime: runtimeOf("web", ctr("app", "CAP_", " cap_CAP_", "")),
			refused: []string{
				add0 + `[0]: Invalid value: "CAP_": that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`,
				add0 + `[1]: Invalid value: " cap_CAP_": that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`,
				add0 + `[2]: Invalid value: "": that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`,
			},
		},
		"the prefix alone, in a class that is not there": {
			runtime: runtimeOf("gone", ctr("app", "CAP_")),
			classes: []RuntimeClass{featureless("a")},
			refused: []string{
				`spec.template.spec.runtime.class: Unsupported value: "gone": runtime class "gone" does not exist; there is only "a"`,
				add0 + `[0]: Invalid value: "CAP_": that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`,
			},
		},
		"a name dropped with the prefix is not refused": {
			runtime: runtimeOf("general-purpose", ctr("app", "SYS_ADMIN").dropping("CAP_CHOWN", "cap_kill")),
		},
	})
}

func TestRuleClass(t *testing.T) {
	many := []RuntimeClass{}
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		many = append(many, featureless(n))
	}
	testVerdicts(t, map[string]verdictCase{
		"an unknown class": {
			runtime: runtimeOf("x", ctr("app", "CHOWN")),
			classes: []RuntimeClass{featureless("b"), featureless("a")},
			refused: []string{at + `.class: Unsupported value: "x": runtime class "x" does not exist; there are "a", "b"`},
		},
		"an unknown class, said once for all containers": {
			runtime: runtimeOf("x", ctr("app", "CHOWN", "KILL"), ctr("log", "CHOWN")),
			classes: []RuntimeClass{featureless("b"), featureless("a")},
			refused: []string{at + `.class: Unsupported value: "x": runtime class "x" does not exist; there are "a", "b"`},
		},
		"an unknown class where there is one": {
			runtime: runtimeOf("x", ctr("app", "CHOWN")),
			classes: []RuntimeClass{featureless("a")},
			refused: []string{at + `.class: Unsupported value: "x": runtime class "x" does not exist; there is only "a"`},
		},
		"an unknown class where there is none": {
			runtime: runtimeOf("x", ctr("app", "CHOWN")),
			classes: []RuntimeClass{},
			refused: []string{at + `.class: Unsupported value: "x": runtime class "x" does not exist; there are none`},
		},
		"over ten classes are counted": {
			runtime: runtimeOf("x", ctr("app", "CHOWN")),
			classes: many,
			refused: []string{at + `.class: Unsupported value: "x": runtime class "x" does not exist; there are "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", ... and 2 more`},
		},
		"no default": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{featureless("b"), featureless("a")},
			refused: []string{at + `.class: Required value: no runtime class is the default; choose one of "a", "b"`},
		},
		"no default where there is one class": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{featureless("a")},
			refused: []string{at + `.class: Required value: no runtime class is the default; choose "a"`},
		},
		"no class at all": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{},
			refused: []string{at + `.class: Required value: no runtime class is the default; there are none to choose from`},
		},
		"two defaults": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{defaulted(featureless("b")), defaulted(featureless("a")), featureless("c")},
			refused: []string{at + `.class: Required value: "a" and "b" are both the default; choose one`},
		},
		"three defaults": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{defaulted(featureless("b")), defaulted(featureless("a")), defaulted(featureless("c"))},
			refused: []string{at + `.class: Required value: "a", "b", "c" are all the default; choose one`},
		},
		"two defaults do not matter to an object that names its class": {
			runtime: runtimeOf("c", ctr("app", "CHOWN")),
			classes: []RuntimeClass{defaulted(featureless("b")), defaulted(featureless("a")), granting("c", "CHOWN")},
		},
	})
}
