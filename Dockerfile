# Both base images are arguments, so that a build can take them from wherever it trusts. The second has no default: give a
# distroless "static" image for a non-root user, by digest.
#
#   docker build --build-arg RUNTIME_IMAGE=<static, nonroot> --build-arg VERSION=v0.1.0 --build-arg COMMIT=$(git rev-parse HEAD) .
ARG BUILD_IMAGE=golang:1.26
ARG RUNTIME_IMAGE

# The Go compiler crosses to the target; emulating it would take many times as long.
FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS build
WORKDIR /src
# The modules alone first: they change seldom, and their layer is kept.
COPY go.mod go.sum ./
RUN go mod download
# By name, so that nothing else of a checkout, keys and logs for instance, gets into a layer.
COPY cmd ./cmd
COPY webhook ./webhook
COPY statuspatch ./statuspatch
COPY certs ./certs
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
ARG COMMIT
# Static, since the image below has no C library. No paths of the build, no build ID: the same source gives the same bytes.
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X main.version=${VERSION} -X main.commit=${COMMIT}" -o /causeway ./cmd/causeway

FROM ${RUNTIME_IMAGE}
ARG VERSION
ARG COMMIT
LABEL org.opencontainers.image.title="causeway" \
      org.opencontainers.image.description="Tells a compute platform's customers why a workload is not running" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build /causeway /causeway
# As a number: kubelet cannot tell from a name that it is not root. deploy/base/deployment.yaml says the same.
USER 65532:65532
ENTRYPOINT ["/causeway"]
