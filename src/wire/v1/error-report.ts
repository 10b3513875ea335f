import { z } from 'zod';
import { boundedList, count, id, instant } from './fields.ts';
import { MAX_ERROR_REPORTS, MAX_STACK_FRAMES } from './limits.ts';

/**
 * External observability (src/agent/README.md, "Error reports"): the agent's own errors, in a form
 * that cannot contain a URL, a host, a header, a key or the name of a check. There is no message,
 * and stack frames are only those of the package, of its dependencies and of Node.
 */
const frame = z.object({
  /** As in the source; spaces only as in `new Client` or `async run`. */
  function: z
    .string()
    .regex(/^[\w$.<>#[\] ]{1,120}$/)
    .nullable(),
  file: z.string().regex(/^(dist|src|node_modules|node:)[\w@+./-]{1,200}$/),
  line: z.int().min(0).max(1e7),
  column: z.int().min(0).max(1e7),
});

const word = z.string().regex(/^[\w.+-]{1,64}$/);

export const errorReportSchema = z.object({
  /** The error's class and code: TypeError, ECONNRESET, SPOOL_FULL. */
  class: word,
  code: word.nullable(),
  stack: boundedList(frame, MAX_STACK_FRAMES),
  count: count.min(1),
  firstAt: instant,
  lastAt: instant,
});

export const errorsRequestSchema = z.object({
  agentId: id,
  version: word,
  node: word,
  /** `process.platform` and `process.arch`. */
  platform: word,
  arch: word,
  reports: boundedList(errorReportSchema, MAX_ERROR_REPORTS),
});
export type ErrorsRequest = z.output<typeof errorsRequestSchema>;

/** All of them were stored, unless the location was deleted meanwhile. */
export const errorsResponseSchema = z.object({ stored: count });
export type ErrorsResponse = z.output<typeof errorsResponseSchema>;
