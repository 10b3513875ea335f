import { z } from 'zod';
import { pauseSchema } from '../../model/schedule/pause.ts';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../model/vocabulary.ts';
import { assignmentEnvelope, oneOffEnvelope } from './assignment.ts';
import { count, id, instant, listOf, locationName, text } from './fields.ts';
import {
  MAX_ASSIGNMENTS,
  MAX_CLIENT_CERTIFICATES,
  MAX_CONCURRENCY,
  MAX_ONE_OFFS,
  MAX_PAUSES,
  MAX_REFUSALS,
  MAX_REMOVALS,
  MAX_VARIABLES,
} from './limits.ts';

const MAX_TYPES = 32;

/**
 * Types that the service does not know are left out, not refused: a newer agent can do more than
 * an older service asks of it.
 */
const checkTypes = listOf(z.string().max(40), MAX_TYPES).transform((types) =>
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
  /** It may capture packets (src/agent/README.md, "When a check fails: the evidence"). */
  capture: z.boolean(),
});
export type Capabilities = z.output<typeof capabilitiesSchema>;

/** Milliseconds, either way. A machine without a clock may be off by decades. */
const clockError = z.int().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** Opaque to the agent: it sends back what it was given. */
const pageMarker = z.string().min(1).max(512);

/** One poll: what the agent is, what it has, and what it did. It renews the agent's lease. */
export const pollRequestSchema = z.object({
  /** Chosen by the agent and kept in DATA_DIR, so that a restart is the same agent. */
  agentId: id,
  /** Chosen anew by each process, so that two with a copy of the same DATA_DIR are told apart. */
  instanceId: id,
  version: z.string().min(1).max(64),
  capabilities: capabilitiesSchema,
  concurrency: z.int().min(1).max(MAX_CONCURRENCY),
  load: z.object({ running: count, queued: count }),
  /** Of the last answer that was taken whole; 0 asks for all. */
  revision: count,
  /** Of the lease that the agent believes to hold; 0 where it holds none. */
  epoch: count,
  /** The marker of the answer before, to get the page after it; null to begin. */
  page: pageMarker.nullable().default(null),
  /** One-offs that need not be told again: their results are in the spool, or they were missed. */
  done: listOf(id, MAX_ONE_OFFS),
  /** Checks that this agent could not read; the service shows them. */
  refused: listOf(z.object({ checkId: id, problem: text(600) }), MAX_REFUSALS).default([]),
  /**
   * How far the agent's clock is ahead of the service's, as the last answer showed; below 0 where it
   * is behind. Agents of older releases do not say.
   */
  clockAheadMs: clockError.nullable().default(null),
});
export type PollRequest = z.output<typeof pollRequestSchema>;

export const variableSchema = z.object({
  key: z.string().min(1).max(255),
  value: z.string().max(20_000),
  secret: z.boolean(),
});

const pem = z.string().max(100_000);

/**
 * Of a certificate and the hosts that it is shown to (src/model/README.md, "The check file", with
 * its private key).
 */
export const clientCertificateSchema = z.object({
  host: z.string().min(1).max(255),
  cert: pem,
  key: pem,
  ca: pem.nullable(),
  passphrase: z.string().max(1_000).nullable(),
});

/** What holds for all checks of the agent's location. */
export const locationSettingsSchema = z.object({
  clientCertificates: listOf(clientCertificateSchema, MAX_CLIENT_CERTIFICATES).default([]),
  /** When which checks are not to be run. */
  pauses: listOf(pauseSchema, MAX_PAUSES).default([]),
});
export type LocationSettings = z.output<typeof locationSettingsSchema>;

export const pollResponseSchema = z.object({
  /** The agent's when it has taken this answer and all pages after it. */
  revision: count,
  /** The lease's: higher than before where the agent had lost it meanwhile. */
  epoch: count,
  /** How long the lease lasts from the sending of the poll; the agent polls again well before. */
  leaseMs: z.int().min(1_000).max(3_600_000),
  /** Epoch milliseconds of the service's clock. */
  serverTime: instant,
  location: z.object({
    slug: locationName,
    /** What checks of this location go through (src/agent/README.md, "Networks and proxies"). */
    proxyUrl: z.string().max(2048).nullable(),
    /** null where the agent knows them, like `settings`. */
    variables: listOf(variableSchema, MAX_VARIABLES).nullable().default(null),
    /** null where the agent knows them: they did not change after the revision that it has. */
    settings: locationSettingsSchema.nullable().default(null),
  }),
  /** `upsert`, with that of the pages after it, is the whole set: what is not in it is gone. */
  full: z.boolean(),
  upsert: listOf(assignmentEnvelope, MAX_ASSIGNMENTS),
  remove: listOf(id, MAX_REMOVALS),
  runs: listOf(oneOffEnvelope, MAX_ONE_OFFS),
  /** There is more of this answer: poll at once with this marker. null at its end. */
  nextPage: pageMarker.nullable(),
});
export type PollResponse = z.output<typeof pollResponseSchema>;
