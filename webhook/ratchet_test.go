package webhook

import "testing"

func TestRatchet(t *testing.T) {
	const (
		webLacks = `is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` + generalDoes
		keeps    = `container "app" keeps NET_ADMIN, which runtime class "web" does not grant; what is removed cannot be added again`
		lends    = `container "app" adds NET_ADMIN, which runtime class "web" does not grant; accepted because its owner adds it`
	)
	testVerdicts(t, map[string]verdictCase{
		"what the stored object adds may stay": {
			stored:   runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			warnings: []string{keeps},
		},
		"nothing may join it": { // cases.md C3
			stored:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN", "SYS_ADMIN")),
			refused: []string{add0 + `[1]: Forbidden: capability "SYS_ADMIN" ` + webLacks},
		},
		"nor move to a second container": { // cases.md C3, variant
			stored:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN"), ctr("log", "NET_ADMIN")),
			refused: []string{add1 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"what was removed may not come back": {
			stored:  runtimeOf("web", ctr("app")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"what is granted may join it": {
			stored:   runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime:  runtimeOf("web", ctr("app", "NET_BIND_SERVICE", "NET_ADMIN")),
			warnings: []string{keeps},
		},
		"containers are known by name, not by position": {
			stored:   runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime:  runtimeOf("web", ctr("log"), ctr("app", "NET_ADMIN")),
			warnings: []string{keeps},
		},
		"another spelling is another capability": {
			stored:  runtimeOf("web", ctr("app", "CAP_NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"what was dropped as well may not lose the drop": {
			stored:  runtimeOf("web", ctr("app", "NET_ADMIN").dropping("NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"dropping ALL dropped nothing that was added by name": {
			stored:   runtimeOf("web", ctr("app", "NET_ADMIN").dropping("ALL")),
			runtime:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			warnings: []string{keeps},
		},
		"ALL may stay too": {
			stored:   runtimeOf("web", ctr("app", "ALL")),
			runtime:  runtimeOf("web", ctr("app", "ALL")),
			warnings: []string{`container "app" keeps ALL, which runtime class "web" does not grant; what is removed cannot be added again`},
		},
		"another class is judged afresh": {
			stored:  runtimeOf("general-purpose", ctr("app", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"an empty class and the default by name are one class": {
			stored:   runtimeOf("", ctr("app", "CHOWN")),
			runtime:  runtimeOf("unikernel", ctr("app", "CHOWN")),
			warnings: []string{`container "app" keeps CHOWN, which runtime class "unikernel" does not grant; what is removed cannot be added again`},
		},
		"a class without the feature, one entry kept and one new": {
			stored:  runtimeOf("unikernel", ctr("app", "CHOWN")),
			runtime: runtimeOf("unikernel", ctr("app", "CHOWN", "KILL")),
			refused: []string{add0 + `: Forbidden: runtime class "unikernel" grants no capabilities; ` + generalDoes},
		},
		"a class that is gone still keeps": {
			stored:   runtimeOf("gone", ctr("app", "CHOWN", "CAP_KILL")),
			runtime:  runtimeOf("gone", ctr("app", "CHOWN", "CAP_KILL")),
			warnings: []string{`container "app" keeps CHOWN, CAP_KILL, though its runtime class cannot be told; what is removed cannot be added again`},
		},
		"a class that is gone takes nothing new": {
			stored:  runtimeOf("gone", ctr("app", "CHOWN")),
			runtime: runtimeOf("gone", ctr("app", "CHOWN", "KILL")),
			refused: []string{at + `.class: Unsupported value: "gone": runtime class "gone" does not exist; there are "general-purpose", "unikernel", "web"`},
		},
		"what the owner adds may be copied": {
			owner:    runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			warnings: []string{lends},
		},
		"and nothing else": {
			owner:   runtimeOf("web", ctr("app", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN", "SYS_ADMIN")),
			refused: []string{add0 + `[1]: Forbidden: capability "SYS_ADMIN" ` + webLacks},
		},
		"nor into another container": {
			owner:   runtimeOf("web", ctr("log", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"nor from an owner of another class": {
			owner:   runtimeOf("general-purpose", ctr("app", "NET_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN")),
			refused: []string{add0 + `[0]: Forbidden: capability "NET_ADMIN" ` + webLacks},
		},
		"one entry stored and one of the owner": {
			stored:  runtimeOf("web", ctr("app", "NET_ADMIN")),
			owner:   runtimeOf("web", ctr("app", "SYS_ADMIN")),
			runtime: runtimeOf("web", ctr("app", "NET_ADMIN", "SYS_ADMIN")),
			warnings: []string{keeps,
				`container "app" adds SYS_ADMIN, which runtime class "web" does not grant; accepted because its owner adds it`},
		},
	})
}
