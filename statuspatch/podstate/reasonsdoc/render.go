package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

const head = `<!-- Written by go generate ./statuspatch/podstate; do not edit. -->

# Reasons

What Causeway says about an Instance that does not run, and how much it weighs. The first table is how any reason, whoever
gives it, is carried up to the WorkloadDeployment and the Workload. The second is what Causeway itself reads out of a Pod
where it is started with ` + "`--observe-pods`" + `.

## How reasons rank

The highest is told first, in full; within a rank the upper one. "One" and "several" continue ` + "`N of M instances`" + `.
A reason that is not in the table has rank 6 where its condition is False. Rank 0 is progress and never a failure.

| rank | reason | also known as | one | several | said by controllers of |
| --- | --- | --- | --- | --- | --- |
`

const middle = `
## What a Pod says

The order of evidence: the Pod as a whole, then ` + "`state.waiting`, then `state.terminated`, and `lastState`" + ` only where
those say nothing. A container that is running and ready is healthy whatever its lastState says. Of several containers
that fail the one speaks that explains the others.

*permanent*: it does not heal by itself. *retrying*: the platform tries again, and that may help. *transient*: no failure
yet; the sentence goes to the log only. Quoted words are the application's, the runtime's, the node's or the registry's own.

`

const foot = `
## How often a sentence changes

A restart alone is no write. The sentence is written again when what happened, the container, the exit code or the limit is
another; when the count of restarts passes 1, 2, 3, 5, 10, 20, 50, 100, 200 and so on; and when the quoted words are other
ones, numbers and times aside, at the next restart or, above 10 restarts, when there have been a tenth more.

A container that came back is believed, and the Instance available again, when it has been ready for twice as long as its
last run lasted: at least 10 seconds, at most 5 minutes, at once where that run stayed up for 5 minutes or there was none.

## The hint about capabilities

With ` + "`--capability-hint`" + ` a Workload that is down because containers crash at start-up ends with:

` + "> `" + `%s` + "`" + `

Each part of it is a fact: the class grants these by default now, and the Pod runs without them, because the container's
` + "`add`" + ` replaced the defaults or its ` + "`drop`" + ` took them. What it does not say is that the crash came of that. It is
off by default for that reason: a container that follows every hardening guide drops ` + "`ALL`" + ` and adds nothing, so the hint
fires on it whatever it crashes of, be it a typo in its configuration. Turn it on where images that need root's usual
capabilities are moved to classes that grant them, and people ask why.

It stays away from a container that ever stayed up for 5 minutes, which had what it needs; that ended with code 0, ran out of
memory or was never started, whose causes are known; that was seen too late to know its first run, as after a restart of
Causeway; and whose Pod does not drop ` + "`ALL`" + ` nor the capability, for then the runtime's own defaults apply. Nothing is
said where the class does not exist, grants none, or cannot be read. It goes as soon as it no longer holds, and when the flag
is turned off. Pods, Instances, classes and the Workload have to be on one control plane.
`

// render is the whole document.
func render(cases string) ([]byte, error) {
	found, err := examples(cases)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(head)
	ranks(&b)
	b.WriteString(middle)
	for _, part := range []struct {
		title string
		in    func(podstate.Rule) bool
	}{
		{"Failures", func(r podstate.Rule) bool { return r.Reason != "" }},
		{"Trouble that may pass", func(r podstate.Rule) bool { return r.Certainty == podstate.Transient }},
		{"No trouble", func(r podstate.Rule) bool { return r.Certainty == podstate.None }},
	} {
		fmt.Fprintf(&b, "### %s\n", part.title)
		for _, r := range podstate.Rules() {
			if !part.in(r) {
				continue
			}
			e, ok := found[r.ID]
			if !ok {
				return nil, fmt.Errorf("no case in %s is decided by the rule %s", cases, r.ID)
			}
			rule(&b, r, e)
		}
		b.WriteByte('\n')
	}
	hint, err := hint()
	if err != nil {
		return nil, err
	}
	b.Truncate(len(bytes.TrimRight(b.Bytes(), "\n")))
	fmt.Fprintf(&b, "\n"+foot, hint)
	return b.Bytes(), nil
}

// hint is the example of the hint, as the roll-up writes it.
func hint() (string, error) {
	in := rollup.Instance{Contribution: rollup.Contribution{Reason: reason.InstanceCrashing}}
	for _, container := range []string{"app", "sidecar"} {
		in.Lacks = append(in.Lacks, rollup.Lack{Class: "general-purpose", Container: container,
			Capabilities: rollup.ListCapabilities([]string{"CHOWN", "SETGID", "SETUID"})})
	}
	v, _ := rollup.WorkloadAvailable(rollup.Workload{Deployments: []rollup.Deployment{{Tally: rollup.Sum([]rollup.Instance{in})}}})
	s, _ := rollup.Parse(v.Reason, v.Message)
	if s.Hint == "" {
		return "", fmt.Errorf("%q has no hint", v.Message)
	}
	return s.Hint, nil
}

// ranks writes a row for each reason of the table, aliases beside it.
func ranks(b *bytes.Buffer) {
	for rank := reason.Refused; rank >= reason.Progress; rank-- {
		aliases := map[string][]string{}
		var order []string
		for _, name := range reason.OfRank(rank) {
			canonical := reason.Canonical(name)
			if name == canonical {
				order = append(order, name)
				continue
			}
			aliases[canonical] = append(aliases[canonical], "`"+name+"`")
		}
		for _, name := range order {
			one, several := reason.Phrase(name, 1), reason.Phrase(name, 2)
			if one == reason.UnknownPhrase(name, 1) { // no words of its own: no Instance says it
				one, several = "", ""
			}
			var by []string
			if reason.DeploymentBase(name) {
				by = append(by, "deployments")
			}
			if reason.WorkloadBase(name) {
				by = append(by, "Workloads")
			}
			fmt.Fprintf(b, "| %d | `%s` | %s | %s | %s | %s |\n", rank, name, strings.Join(aliases[name], " "), one, several, strings.Join(by, ", "))
		}
	}
}

// caseID is where a case of the project's collection is named in brackets.
var caseID = regexp.MustCompile(` \([^)]*\)$`)

func rule(b *bytes.Buffer, r podstate.Rule, e example) {
	title := r.ID
	if r.Reason != "" {
		title += ": " + r.Reason + ", " + r.Certainty.String()
	}
	fmt.Fprintf(b, "\n**%s**  \n%s.\n", title, capital(r.When))
	if e.sentence != "" {
		fmt.Fprintf(b, "\n> %s:\n>\n> `%s`\n", capital(caseID.ReplaceAllString(e.situation, "")), e.sentence)
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
