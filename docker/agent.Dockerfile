# The agent, as `docker run vedette-agent`; also `run FILE`, `validate FILE` and `apply FILE`.
# From the root of the repository: docker build -f docker/agent.Dockerfile -t vedette-agent .
#
# Base images have tags here, so that a build gets their latest fixes. To have the same build twice,
# pin them by the digest of what the tag names today, for all platforms, and raise it with a release:
#   docker buildx imagetools inspect node:24-trixie-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE_IMAGE=docker.io/library/node:24-trixie-slim@sha256:… …
ARG NODE_IMAGE=docker.io/library/node:24-trixie-slim
ARG BASE_IMAGE=docker.io/library/debian:trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install scripts: koffi comes prebuilt for amd64 and arm64, and the addon of net-ping, which would
# need a compiler, is left out: ICMP goes by the kernel's unprivileged sockets.
RUN npm ci --ignore-scripts
COPY LICENSE ./
COPY src src
COPY tsconfig.json ./
RUN npm run build
COPY README.md ./
COPY docker/assemble.mjs docker/healthcheck.mjs docker/README.md docker/
# Readable for the image's user, also where the copy of the repository was made with a narrow umask.
RUN node docker/assemble.mjs agent /image/opt/vedette && cp docker/healthcheck.mjs /image/opt/vedette/ \
  && chmod -R a+rX /image

FROM ${BASE_IMAGE}
# tcpdump alone has the right to capture, and only where the container has it (--cap-add=NET_RAW).
# traceroute needs none. libcap2-bin is for setcap and goes again.
RUN apt-get update -q \
  && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    ca-certificates libcap2-bin libstdc++6 tcpdump tini traceroute \
  && setcap cap_net_raw+ep "$(command -v tcpdump)" \
  && apt-get purge -q -y --auto-remove libcap2-bin \
  && apt-get clean \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
  && groupadd --gid 10001 vedette \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin vedette \
  && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /image/ /

ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="vedette-agent" \
  org.opencontainers.image.description="Runs URL, API, TCP, DNS and ICMP checks from inside your network." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# Numbers, so that Kubernetes can see that it is not root.
USER 10001:10001
ENV DATA_DIR=/data
# A volume also where the root is read-only and none is named.
VOLUME /data
WORKDIR /data
EXPOSE 8081
# While it starts, a failure does not count. With AGENT_HEALTH_PORT=0 there is no port to ask.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/usr/local/bin/node", "/opt/vedette/healthcheck.mjs", "AGENT_HEALTH_PORT", "8081"]
# tini passes signals on and reaps what traces and captures leave. Smaller halves of the heap for what
# is new take 18 MB less memory, and no more time for as many checks.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/node", "--max-semi-space-size=4", \
  "/opt/vedette/dist/cli/main.js"]
CMD ["agent"]
