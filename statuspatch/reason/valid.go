package reason

// MaxLength is the most bytes that the API allows in a condition's reason.
const MaxLength = 1024

// Valid tells whether the API accepts the reason in a condition: 1 to
// MaxLength bytes that match ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, the
// pattern of metav1.Condition.
func Valid(reason string) bool {
	if reason == "" || len(reason) > MaxLength || !letter(reason[0]) {
		return false
	}
	for i := 1; i < len(reason); i++ {
		if !word(reason[i]) && reason[i] != ',' && reason[i] != ':' {
			return false
		}
	}
	return word(reason[len(reason)-1])
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func word(c byte) bool { return letter(c) || '0' <= c && c <= '9' || c == '_' }
