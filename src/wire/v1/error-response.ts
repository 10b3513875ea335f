import { z } from 'zod';
import { text } from './fields.ts';
import { HEADERS, PROTOCOL_VERSION } from './limits.ts';

/**
 * Every error of the service (src/service/README.md, "The API"). The status defines the attributes.
 */
export const errorResponseSchema = z.object({
  statusCode: z.int().min(400).max(599),
  error: text(200),
  message: text(4000),
  attributes: z.record(z.string(), z.unknown()).default({}),
});
export type ErrorResponse = z.output<typeof errorResponseSchema>;

/**
 * null if the answer does not come from the service but, for example, is an error page of a proxy.
 */
export function errorResponseIn(status: number, json: unknown): ErrorResponse | null {
  const parsed = errorResponseSchema.safeParse(json);
  return parsed.success && parsed.data.statusCode === status ? parsed.data : null;
}

/** RFC 9110 15.5.22. */
export const PROTOCOL_MISMATCH_STATUS = 426;
/** The same section requires an Upgrade header with the protocols that the server accepts. */
export const UPGRADE_HEADER_VALUE = `vedette-agent/${PROTOCOL_VERSION}`;

export const mismatchAttributesSchema = z.object({
  /** Versions that the service speaks. */
  supported: z.array(z.int().min(1)).min(1).max(32),
  /** Cut at 40 characters; null if the header was missing. */
  received: text(40).nullable(),
  upgrade: z.enum(['agent', 'service']),
});
export type MismatchAttributes = z.output<typeof mismatchAttributesSchema>;

/**
 * The answer to a request of another protocol version; null if the version is right.
 *
 * @param received the `x-agent-protocol` header; undefined if there was none
 */
export function protocolMismatchOf(received: string | undefined): ErrorResponse | null {
  if (received === String(PROTOCOL_VERSION)) return null;
  const version = received !== undefined && /^\d{1,9}$/.test(received) ? Number(received) : null;
  const upgrade = version !== null && version > PROTOCOL_VERSION ? 'service' : 'agent';
  const attributes: MismatchAttributes = {
    supported: [PROTOCOL_VERSION],
    received: received?.slice(0, 40) ?? null,
    upgrade,
  };
  const what =
    version === null
      ? `the header ${HEADERS.protocol} is ${received === undefined ? 'missing' : 'no whole number'}`
      : `the agent speaks version ${version} of the agent protocol`;
  return {
    statusCode: PROTOCOL_MISMATCH_STATUS,
    error: 'Upgrade Required',
    message: `This service speaks version ${PROTOCOL_VERSION} of the agent protocol, and ${what}: upgrade the ${upgrade}`,
    attributes,
  };
}

/** The protocol mismatch in an error answer; null if it is another error. */
export function mismatchIn(answer: ErrorResponse): MismatchAttributes | null {
  if (answer.statusCode !== PROTOCOL_MISMATCH_STATUS) return null;
  const parsed = mismatchAttributesSchema.safeParse(answer.attributes);
  return parsed.success ? parsed.data : null;
}
