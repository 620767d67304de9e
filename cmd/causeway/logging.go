package main

import (
	"bytes"
	"flag"
	"io"
	"log"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Values of --log-format. The last is what --dev makes of it.
const (
	logJSON = "json"
	logText = "text"
	logDev  = "dev"
)

// newLogger writes to w. Verbosity counts as in Kubernetes: 0 is for changes of state, 4 and above for traces.
func newLogger(w io.Writer, format string, verbosity int) logr.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	encoder := zapcore.NewJSONEncoder(config)
	switch format {
	case logText:
		config.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(config)
	case logDev:
		config.EncodeLevel = zapcore.CapitalColorLevelEncoder
		config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		encoder = zapcore.NewConsoleEncoder(config)
	}
	// zapr maps V(n) to the zap level -n.
	level := zap.NewAtomicLevelAt(zapcore.Level(-verbosity))
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)
	if verbosity == 0 {
		core = zapcore.NewSamplerWithOptions(core, time.Second, maxLines, keptLine, zapcore.SamplerHook(countDropped))
	}
	return zapr.NewLogger(zap.New(core, zap.AddCaller()))
}

// A customer's loop of refused requests must fill no disk: of each message so many lines are written in a second, and
// beyond them each keptLine-th. Who asks for traces gets all.
const (
	maxLines = 100
	keptLine = 100
)

var linesDropped = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "causeway_log_lines_dropped_total",
	Help: "Lines of the log that were left out because more than " + strconv.Itoa(maxLines) + " of one message came in a second.",
})

func countDropped(_ zapcore.Entry, decision zapcore.SamplingDecision) {
	if decision&zapcore.LogDropped != 0 {
		linesDropped.Inc()
	}
}

// logEverywhere makes the libraries log through the same logger: klog is client-go's, ctrl is controller-runtime's.
func logEverywhere(logger logr.Logger, verbosity int) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	// klog drops by its own verbosity before it asks the logger.
	_ = flags.Set("v", strconv.Itoa(verbosity))
	klog.SetLoggerWithOptions(logger.WithName("client"), klog.ContextualLogger(true))
	ctrl.SetLogger(logger.WithName("runtime"))
}

// quietLog is where net/http complains about its peers: a scanner's broken handshake is no news.
func quietLog(logger logr.Logger) *log.Logger {
	return log.New(lineWriter{logger.V(2).WithName("http")}, "", 0)
}

type lineWriter struct{ logger logr.Logger }

func (w lineWriter) Write(line []byte) (int, error) {
	w.logger.Info("Connection trouble", "reason", string(bytes.TrimSpace(line)))
	return len(line), nil
}
