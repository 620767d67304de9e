package podstate

import "strconv"

// signals are the ones that end a process, by Linux's number.
var signals = map[int32]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}

// how says how a container ended: with a code, by a signal, or with a code that
// is likely a signal, since 128 and the number is what a shell and a runtime
// make of it, but an application may choose it too. The kubelet leaves the
// field signal empty; another agent may fill it.
func how(code, signal int32) (text string, rule Rule) {
	if name := signals[signal]; name != "" {
		return "by signal " + name + " (code " + itoa(code) + ").", crashSignal
	}
	if name := signals[code-128]; code > 128 && name != "" {
		return "with code " + itoa(code) + ", likely signal " + name + ".", crashSignal
	}
	switch code {
	case 0:
		return crashClean.says, crashClean
	case 126:
		return "with code 126, which a shell gives for a command it may not execute. Check the command.", crashCommand
	case 127:
		return "with code 127, which a shell gives for a command it does not find. Check the command.", crashCommand
	}
	return crash.says + itoa(code) + ".", crash
}

func itoa(n int32) string { return strconv.FormatInt(int64(n), 10) }
