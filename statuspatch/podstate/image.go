package podstate

import (
	"strings"
)

// image judges a container whose image is not there, by the kubelet's reason
// and, for the two that tell nothing else, by the registry's own error.
func (j *judge) image(c container, waiting, message string) Verdict {
	image := c.status.Image
	if c.spec != nil && c.spec.Image != "" {
		image = c.spec.Image
	}
	cause := pullCause(message)
	if cause == "" { // an older kubelet keeps it to itself while it backs off
		if t := j.memory.track(c.Name); t != nil {
			cause = t.pull
		}
	}
	rule := imageRule(waiting, unnamed(cause, image))
	text := "could not pull its image " + quoted(shortImage(image), maxImage) + ": " + rule.says
	source := runtimeSays
	if waiting == "InvalidImageName" || waiting == "ErrImageNeverPull" { // no runtime was asked
		source = nodeSays
	}
	return rule.verdict(c.Container, sentence(c.Container, text, source, cause))
}

// pullCause takes the kubelet's wrapping off: ImagePullBackOff comes as
// `Back-off pulling image "x": ErrImagePull: <the cause>`, or without a cause.
func pullCause(message string) string {
	if !strings.HasPrefix(message, "Back-off pulling image ") {
		return message
	}
	_, rest, ok := strings.Cut(message, `": `)
	if !ok {
		return ""
	}
	for _, kind := range []string{"ErrImagePull: ", "RegistryUnavailable: ", "SignatureValidationFailed: "} {
		rest = strings.TrimPrefix(rest, kind)
	}
	return rest
}

func imageRule(waiting, cause string) Rule {
	switch waiting {
	case "InvalidImageName":
		return imageName
	case "ErrImageNeverPull":
		return imageAbsent
	case "SignatureValidationFailed":
		return imageSignature
	case "RegistryUnavailable":
		return imageUnreachable
	case "ImageInspectError":
		return imageOther
	}
	for _, p := range pullErrors {
		if containsAny(cause, p.phrases) {
			return *p.rule
		}
	}
	return imageOther
}

// pullErrors are phrases of runtimes and registries, in lower case. What may
// pass comes first: a message that tells both is not certain. No bare status
// codes: a port or a digest may have the same digits.
var pullErrors = []struct {
	rule    *Rule
	phrases []string
}{
	{&imageOther, []string{"executable file not found", "error getting credentials"}}, // a helper of the node
	{&imageLimited, []string{"toomanyrequests", "too many requests", "rate limit"}},
	{&imageUnreachable, []string{"timeout", "timed out", "deadline exceeded", "connection refused", "connection reset", "no such host",
		"no route to host", "network is unreachable", "server misbehaving", "temporary failure", "unavailable", "unexpected eof",
		"connection is closing", "internal server error", "bad gateway"}},
	{&imageSignature, []string{"signature validation failed", "signature required"}},
	{&imagePlatform, []string{"no match for platform", "no matching manifest", "no image found in image index for architecture",
		"no image found in manifest list for architecture"}},
	{&imageForbidden, []string{"unauthorized", "authentication required", "authorization failed", "access denied", "denied:", "forbidden",
		"no basic auth credentials", "may require authorization", "insufficient_scope"}},
	{&imageNotFound, []string{"not found", "manifest unknown", "manifest_unknown", "name unknown", "name_unknown", "does not exist"}},
	{&imageName, []string{"invalid reference format", "couldn't parse image name"}},
}

// unnamed is an error in lower case without what it quotes and without the
// image's name: an image may be called "timeout", and an executable too.
func unnamed(message, image string) string {
	message = unquoted(message)
	if image != "" {
		message = strings.ReplaceAll(message, image, " ")
	}
	return strings.ToLower(message)
}

// unquoted is a text without its parts in double quotes. An odd quote counts as
// the end of the text: what is behind it is part of a name, or cut.
func unquoted(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, `"`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return b.String()
		}
		b.WriteByte(' ')
		s = after
	}
}

func containsAny(s string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
