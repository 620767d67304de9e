package webhook

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
)

var defaultAdds = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID"}

func TestStripWarningsNameTheDefaultsThatAreLost(t *testing.T) {
	classes := NewClasses([]RuntimeClass{
		giving(defaulted(granting("general-purpose", everyCapability...)), defaultAdds...),
		giving(granting("generous", everyCapability...), everyCapability...),
		granting("plain", "CHOWN"),
	})
	for name, tc := range map[string]struct {
		runtime *Runtime
		want    []string
	}{
		"a container that adds loses the others": {
			runtimeOf("general-purpose", ctr("app", "NET_ADMIN")),
			[]string{`container "app" loses defaults of runtime class "general-purpose" that its add does not restate: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, NET_BIND_SERVICE, SETFCAP, SETGID, SETPCAP, SETUID`},
		},
		"what is restated or dropped by name is not lost": {
			runtimeOf("", ctr("app", defaultAdds[2:]...).dropping("CHOWN", "ALL")),
			[]string{`container "app" loses defaults of runtime class "general-purpose" that its add does not restate: DAC_OVERRIDE`},
		},
		"one sentence a container, none for one that adds nothing": {
			runtimeOf("", ctr("app", defaultAdds[1:]...), ctr("idle"), ctr("log", defaultAdds[:9]...)),
			[]string{
				`container "app" loses defaults of runtime class "general-purpose" that its add does not restate: CHOWN`,
				`container "log" loses defaults of runtime class "general-purpose" that its add does not restate: SETUID`,
			},
		},
		"all restated":        {runtimeOf("", ctr("app", defaultAdds...)), nil},
		"a class without any": {runtimeOf("plain", ctr("app", "CHOWN")), nil},
		"a class that is not": {runtimeOf("x", ctr("app", "CHOWN")), nil},
		"what does not fit is counted": {
			runtimeOf("generous", ctr("app", "CHOWN")),
			[]string{`container "app" loses defaults of runtime class "generous" that its add does not restate: AUDIT_CONTROL, AUDIT_READ, AUDIT_WRITE, BLOCK_SUSPEND, BPF, CHECKPOINT_RESTORE, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, IPC_LOCK, IPC_OWNER, ... and 28 more`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := StripWarnings(tc.runtime, classes)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("StripWarnings (-want +got):\n%s", diff)
			}
			for _, w := range got {
				assert.LessOrEqual(t, utf8.RuneCountInString(w), maxWarning)
			}
		})
	}
}

func TestAWarningIsCutWhereNoNameFits(t *testing.T) {
	c := giving(granting(strings.Repeat("x", 253), "CHOWN"), "KILL")
	got := StripWarnings(runtimeOf(c.Name, ctr("app", "CHOWN")), NewClasses([]RuntimeClass{c}))
	assert.Equal(t, []string{`container "app" loses defaults of runtime class "` + strings.Repeat("x", 204) + "..."}, got)
}

func TestWarningsStayWithinTheLimitsOfTheAPI(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("%03d %s", i, strings.Repeat("ä", 300)))
	}
	got := bounded(many)
	assert.Len(t, got, 16)
	assert.Equal(t, "... and 85 more warnings", got[15])
	total := 0
	for _, w := range got {
		assert.LessOrEqual(t, utf8.RuneCountInString(w), maxWarning)
		total += utf8.RuneCountInString(w)
	}
	assert.LessOrEqual(t, total, maxWarnings)
	assert.True(t, strings.HasSuffix(got[0], "ä..."), got[0])

	assert.Equal(t, []string{"one two", "three ?"}, bounded([]string{"one\ntwo", "three \xff"}))
	assert.Empty(t, bounded(nil))
}
