package webhook

import "testing"

func TestCanonicalIsWhatARuntimeWouldActOn(t *testing.T) {
	for name, tc := range map[string]struct{ written, want string }{
		"an exact name stays":                      {"SYS_ADMIN", "SYS_ADMIN"},
		"the prefix goes":                          {"CAP_SYS_ADMIN", "SYS_ADMIN"},
		"the prefix goes in lower case":            {"cap_sys_admin", "SYS_ADMIN"},
		"mixed case becomes upper case":            {"Sys_Admin", "SYS_ADMIN"},
		"spaces go":                                {" SYS_ADMIN\t", "SYS_ADMIN"},
		"prefix and spaces go in any order":        {" CAP_ SYS_ADMIN", "SYS_ADMIN"},
		"a doubled prefix goes":                    {"CAP_CAP_SYS_ADMIN", "SYS_ADMIN"},
		"all is ALL":                               {"all", "ALL"},
		"a prefixed all is ALL":                    {"Cap_All", "ALL"},
		"a letter that only looks small is raised": {"\u017fys_admin", "SYS_ADMIN"},
		"nothing is nothing":                       {"", ""},
		"a prefix alone is nothing":                {"CAP_", ""},
		"a name no kernel knows is kept":           {"SYS_ADMN", "SYS_ADMN"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Canonical(tc.written); got != tc.want {
				t.Errorf("Canonical(%q) = %q, want %q", tc.written, got, tc.want)
			}
		})
	}
}

func FuzzCanonicalTwiceChangesNothing(f *testing.F) {
	for _, seed := range []string{"", "ALL", "cap_sys_admin", " CAP_ CAP_x", "\u017f", "\xff", "ŉ", "ǰ", "ß"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		once := Canonical(name)
		if twice := Canonical(once); twice != once {
			t.Errorf("Canonical(%q) = %q, and of that %q", name, once, twice)
		}
	})
}
