import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../model/enums.ts';
import { pauseSchema } from '../../model/schedule/pause.ts';
import { assignmentEnvelope, oneOffEnvelope } from './assignment.ts';
import { boundedList, count, id, instant, locationName, text } from './fields.ts';
import {
  MAX_ASSIGNMENTS,
  MAX_CLIENT_CERTIFICATES,
  MAX_CONCURRENCY,
  MAX_ONE_OFFS,
  MAX_PAUSES,
  MAX_REFUSALS,
  MAX_REMOVALS,
  MAX_TRIALS,
  MAX_VARIABLES,
} from './limits.ts';
import { trialEnvelope } from './trials.ts';

const MAX_TYPES = 32;
const MAX_FEATURES = 200;

/** Leaves out check types that the service does not know: a newer agent may have more. */
const checkTypes = boundedList(z.string().max(40), MAX_TYPES).transform((types) =>
  types.filter((type): type is RunnableCheckType =>
    (RUNNABLE_CHECK_TYPES as readonly string[]).includes(type),
  ),
);

export const capabilitiesSchema = z.object({
  types: checkTypes,
  /** The machine has a route to IPv6. */
  ipv6: z.boolean(),
  /** It may open an ICMP socket. */
  icmp: z.boolean(),
  /** It may capture packets (src/agent/README.md, "Evidence: traceroute and packet capture"). */
  capture: z.boolean(),
  /** It runs checks that are not saved yet. Older agents do not send it. */
  trials: z.literal(true).exactOptional(),
  /**
   * The features of checks that it knows (src/model/check/check-features.ts); a newer agent may
   * have more. Older agents do not send it: they know none.
   */
  features: boundedList(z.string().max(60), MAX_FEATURES).exactOptional(),
});
export type Capabilities = z.output<typeof capabilitiesSchema>;

/** Milliseconds, positive or negative. A machine without a clock may be off by decades. */
const clockError = z.int().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** What an agent knows about itself, since its start. */
export const agentHealthSchema = z.object({
  /** The latest start of a run after its slot within the last five minutes; null if none began. */
  maxLatenessMs: count.nullable(),
  missedSlots: count,
  /** What waits for the service: results, missed slots and artifacts. */
  spoolRecords: count,
  spoolBytes: count,
  /** How long the oldest of them has waited; null if none waits. */
  spoolOldestMs: count.nullable(),
});
export type AgentHealth = z.output<typeof agentHealthSchema>;

/** Opaque to the agent, which sends it back as it is. */
const pageMarker = z.string().min(1).max(512);

/** A poll describes the agent, its checks and its finished runs. It renews the agent's lease. */
export const pollRequestSchema = z.object({
  /** Chosen by the agent and saved in DATA_DIR: after a restart it is the same agent. */
  agentId: id,
  /** New in each process: distinguishes two with copies of the same DATA_DIR. */
  instanceId: id,
  version: z.string().min(1).max(64),
  capabilities: capabilitiesSchema,
  concurrency: z.int().min(1).max(MAX_CONCURRENCY),
  load: z.object({ running: count, queued: count }),
  /** Revision of the last complete answer; 0 requests all checks. */
  revision: count,
  /** Epoch of the agent's lease; 0 without a lease. */
  epoch: count,
  /** The marker of the previous page; null for the first. */
  page: pageMarker.nullable().default(null),
  /**
   * One-offs (runs on request, and retries from other locations) not to be sent again: their results
   * are in the spool, or they were missed.
   */
  done: boundedList(id, MAX_ONE_OFFS),
  /** Checks that the agent could not parse, for the service to show. */
  refused: boundedList(z.object({ checkId: id, problem: text(600) }), MAX_REFUSALS).default([]),
  /**
   * How far the agent's clock is ahead of the service's by the last answer; below 0 it is behind.
   * Older agents do not send it.
   */
  clockAheadMs: clockError.nullable().default(null),
  /** Older agents do not send it. */
  health: agentHealthSchema.nullable().default(null),
});
export type PollRequest = z.output<typeof pollRequestSchema>;

export const variableSchema = z.object({
  key: z.string().min(1).max(255),
  value: z.string().max(20_000),
  secret: z.boolean(),
});

const pem = z.string().max(100_000);

/** A client certificate with its key, for one host pattern (src/model/README.md, "The check file"). */
export const clientCertificateMessageSchema = z.object({
  host: z.string().min(1).max(255),
  cert: pem,
  key: pem,
  ca: pem.nullable(),
  passphrase: z.string().max(1_000).nullable(),
});

/** Settings of the location, for all of its checks. */
export const locationSettingsSchema = z.object({
  clientCertificates: boundedList(clientCertificateMessageSchema, MAX_CLIENT_CERTIFICATES).default(
    [],
  ),
  /** Maintenance windows. */
  pauses: boundedList(pauseSchema, MAX_PAUSES).default([]),
});
export type LocationSettings = z.output<typeof locationSettingsSchema>;

export const pollResponseSchema = z.object({
  /** The agent's revision once it has this answer and all pages after it. */
  revision: count,
  /** Epoch of the lease: higher than before if the agent had lost it. */
  epoch: count,
  /** The lease, from the sending of the poll; the agent polls again well before its end. */
  leaseMs: z.int().min(1_000).max(3_600_000),
  /** Epoch milliseconds of the service's clock. */
  serverTime: instant,
  location: z.object({
    slug: locationName,
    /** For the location's checks (src/agent/README.md, "Networks and proxies"). */
    proxyUrl: z.string().max(2048).nullable(),
    /** null if they have not changed since the agent's revision, like `settings`. */
    variables: boundedList(variableSchema, MAX_VARIABLES).nullable().default(null),
    settings: locationSettingsSchema.nullable().default(null),
    /**
     * Names of the account's secret variables that the service cannot decrypt, sent together with
     * `variables`. Older services do not send it; for older agents these variables have no value
     * either.
     */
    unreadableVariables: boundedList(variableSchema.shape.key, MAX_VARIABLES).default([]),
  }),
  /** `upsert` of this and the following pages is the whole set: other checks are removed. */
  full: z.boolean(),
  upsert: boundedList(assignmentEnvelope, MAX_ASSIGNMENTS),
  remove: boundedList(id, MAX_REMOVALS),
  runs: boundedList(oneOffEnvelope, MAX_ONE_OFFS),
  /**
   * One-offs that the agent has and that a user cancelled, until it reports them done. Older
   * services do not send it; older agents ignore it and complete the runs.
   */
  cancelledRuns: boundedList(id, MAX_ONE_OFFS).default([]),
  /** All trials that the agent has and has not reported. Older services do not send it. */
  trials: boundedList(trialEnvelope, MAX_TRIALS).default([]),
  /** Poll at once with this marker for the next page. null on the last page. */
  nextPage: pageMarker.nullable(),
});
export type PollResponse = z.output<typeof pollResponseSchema>;
