import { z } from 'zod';
import { id } from '../../wire/v1/fields.ts';

/** Where the pages of a whole set go on. */
export interface PageMarker {
  /** Of the location when the first page was made. */
  readonly revision: number;
  /** Of the agent's lease by then. */
  readonly epoch: number;
  /** The id up to which all checks were told. */
  readonly after: string;
}

const markerSchema = z.strictObject({
  revision: z.int().min(0),
  epoch: z.int().min(0),
  after: id,
});

/** Opaque to agents. */
export function pageTextOf(marker: PageMarker): string {
  return Buffer.from(JSON.stringify(marker)).toString('base64url');
}

/** null where it is none of ours. */
export function pageMarkerOf(text: string): PageMarker | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const parsed = markerSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}
