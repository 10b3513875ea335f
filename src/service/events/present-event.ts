import { z } from 'zod';
import type { StoredEvent } from './events.ts';
import { EVENT_KINDS } from './kinds.ts';

/** An event as the API has it. */
export const eventSchema = z.strictObject({
  // Not an enum: kinds of a newer replica must not make a response invalid, and clients must accept new kinds.
  kind: z
    .union([z.enum(EVENT_KINDS), z.string()])
    .describe('What happened; a later release may have further kinds.'),
  resourceId: z.string().describe('The id of the resource.'),
  at: z.iso.datetime().describe('When it happened.'),
  data: z.record(z.string(), z.unknown()).describe('Depends on the kind.'),
});

export function presentEvent({
  kind,
  resourceId,
  at,
  data,
}: StoredEvent): z.output<typeof eventSchema> {
  return { kind, resourceId, at: at.toISOString(), data };
}
