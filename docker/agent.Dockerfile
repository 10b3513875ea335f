# The agent, as `docker run vedette-agent`; also `run FILE`, `validate FILE` and `apply FILE`.
# From the root of the repository: docker build -f docker/agent.Dockerfile -t vedette-agent .
#
# Base images are tags, so that a build gets their latest fixes. For reproducible builds, pin them by the
# current digest of the tag (for all platforms), and update it with each release:
#   docker buildx imagetools inspect node:24-trixie-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE_IMAGE=docker.io/library/node:24-trixie-slim@sha256:… …
ARG NODE_IMAGE=docker.io/library/node:24-trixie-slim
ARG BASE_IMAGE=docker.io/library/debian:trixie-slim

FROM ${NODE_IMAGE} AS build
# Node without its symbols, which only debuggers read, is 18 MB smaller.
RUN apt-get update -q \
  && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends binutils \
  && strip --strip-all -o /node /usr/local/bin/node
WORKDIR /build
# A mirror of the npm registry. Unset: that of the base image, else the public one.
ARG NPM_CONFIG_REGISTRY
COPY package.json package-lock.json .npmrc ./
# No install scripts: koffi is prebuilt for amd64 and arm64. The addon of net-ping, which needs a
# compiler, is left out: ICMP uses the kernel's unprivileged sockets.
RUN npm ci --ignore-scripts
COPY LICENSE ./
COPY src src
COPY tsconfig.json ./
RUN npm run build
COPY README.md ./
COPY docker/assemble-image.mjs docker/needed-files.mjs docker/third-party.mjs docker/healthcheck.mjs docker/README.md docker/
# Readable for the image's user, even if the repository was checked out with a strict umask.
RUN node docker/assemble-image.mjs agent /image/opt/vedette && cp docker/healthcheck.mjs /image/opt/vedette/ \
  && chmod -R a+rX /image

FROM ${BASE_IMAGE}
# Only tcpdump may capture, and only if the container has the capability (--cap-add=NET_RAW).
# traceroute needs none. libcap2-bin is only for setcap. No ca-certificates: Node has its own roots.
RUN apt-get update -q \
  && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    libcap2-bin libstdc++6 tcpdump tini traceroute \
  && setcap cap_net_raw+ep "$(command -v tcpdump)" \
  && apt-get purge -q -y --auto-remove libcap2-bin \
  && apt-get clean \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
  && groupadd --gid 10001 vedette \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin vedette \
  && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /node /usr/local/bin/node
COPY --from=build /image/ /

ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="vedette-agent" \
  org.opencontainers.image.description="Runs URL, API, TCP, DNS and ICMP checks from inside your network." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# Numeric, so that Kubernetes can see that it is not root.
USER 10001:10001
ENV DATA_DIR=/data
# Also a volume if the root is read-only and the command names none.
VOLUME /data
WORKDIR /data
EXPOSE 8081
# Failures during the start do not count. With AGENT_HEALTH_PORT=0 there is no known port.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/usr/local/bin/node", "/opt/vedette/healthcheck.mjs", "AGENT_HEALTH_PORT", "8081"]
# tini forwards signals and reaps processes of traces and captures. The smaller young generation of
# the heap saves 18 MB of memory without costing CPU time.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/node", "--max-semi-space-size=4", \
  "/opt/vedette/dist/cli/main.js"]
CMD ["agent"]
