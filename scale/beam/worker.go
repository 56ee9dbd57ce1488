package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// A runner starts a worker with --id and --provision_endpoint where --environment_type is PROCESS. Beam's own boot
// program then asks there for the rest, downloads this program, and starts it as a child, which outlives it. Here the
// program is in its place already, asks itself, and goes on as the worker: it ends when the runner ends it.

// provision names the service that tells a worker what it works on.
var provision = flag.String("provision_endpoint", "", "service that a runner names to a worker that it starts")

// becomeWorker sets the flags by which beam.Init makes this process a worker, if a runner has started it as one.
func becomeWorker(ctx context.Context) error {
	if *provision == "" {
		return nil
	}
	ctx = grpcx.WriteWorkerID(ctx, flag.Lookup("id").Value.String())
	info, err := tools.ProvisionInfo(ctx, *provision)
	if err != nil {
		return fmt.Errorf("--provision_endpoint %s: %w", *provision, err)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	return errors.Join(err, flag.Set("worker", "true"), flag.Set("options", options),
		flag.Set("logging_endpoint", info.GetLoggingEndpoint().GetUrl()),
		flag.Set("control_endpoint", info.GetControlEndpoint().GetUrl()))
}

// chooseWorker says which program travels to the workers, unless --worker_binary does: this one, or none where workers
// are in their places. Beam would compile one, which needs the source where it was built.
func chooseWorker() (err error) {
	switch {
	case *jobopts.WorkerBinary != "":
	case strings.EqualFold(*jobopts.EnvironmentType, "process"):
		*jobopts.WorkerBinary = os.DevNull
	case runtime.GOOS == "linux":
		*jobopts.WorkerBinary, err = os.Executable()
	}
	return err
}
