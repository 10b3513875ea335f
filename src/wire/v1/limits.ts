/**
 * Constants of the agent protocol, version 1 (src/service/README.md, "Versions of the agent
 * protocol").
 */

/** The only version that this build speaks. It is in the header and in the path. */
export const PROTOCOL_VERSION = 1;

/** Header names, in the lower case of HTTP/2. */
export const HEADERS = {
  protocol: 'x-agent-protocol',
  /** `Bearer` and the location key. */
  authorization: 'authorization',
} as const;

export const PATHS = {
  poll: '/agent/v1/poll',
  results: '/agent/v1/results',
  artifacts: '/agent/v1/artifacts',
  handovers: '/agent/v1/handovers',
  release: '/agent/v1/release',
  errors: '/agent/v1/errors',
  trials: '/agent/v1/trials',
} as const;

/** The JSON of a batch of results, before gzip and after. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** The JSON of every other request. */
export const MAX_REQUEST_BYTES = 1024 * 1024;
/** The JSON of an answer to a poll, unpacked; larger sets are split into pages. */
export const MAX_POLL_RESPONSE_BYTES = 16 * 1024 * 1024;
/** 150 MB (src/service/README.md, "Artifacts"). */
export const MAX_ARTIFACT_BYTES = 157_286_400;

/** Bounds on lists, each above what this agent and this service ever send. */
export const MAX_RESULTS = 5_000;
export const MAX_MISSED = 10_000;
/** Members of objects and items of lists in one record. A DNS answer of 64 KiB takes 33,000. */
export const MAX_RECORD_VALUES = 40_000;
export const MAX_ASSIGNMENTS = 5_000;
export const MAX_REMOVALS = 20_000;
export const MAX_ONE_OFFS = 1_000;
export const MAX_TRIALS = 100;
export const MAX_VARIABLES = 2_000;
export const MAX_CLIENT_CERTIFICATES = 500;
export const MAX_PAUSES = 1_000;
export const MAX_REFUSALS = 100;
export const MAX_ERROR_REPORTS = 100;
export const MAX_STACK_FRAMES = 50;
export const MAX_ARTIFACT_PARTS = 10_000;
/** Locations in the rotation of one check. */
export const MAX_STRIDE = 1_000;
export const MAX_CONCURRENCY = 100_000;
