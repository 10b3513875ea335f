import { z } from 'zod';
import { CHECK_STATES, type CheckState } from '../../model/result/check-state.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { firstPages, readAs } from '../service-api/read-responses.ts';

/** The states that are listed, in the order of the service, worst first. */
const LISTED = ['failing', 'degraded', 'unknown'] as const satisfies readonly CheckState[];

const MAX_PAGES = 10;
/** Limits the work of the service, which counts the checks, agents and missed slots of each location. */
const MAX_COUNTED_LOCATIONS = 20;

const countsSchema = z.object(
  Object.fromEntries(CHECK_STATES.map((state) => [state, z.int()])) as Record<CheckState, z.ZodInt>,
);
export type StateCounts = z.output<typeof countsSchema>;

const statusSchema = z.looseObject({
  checkId: z.string(),
  name: z.string(),
  checkType: z.string(),
  locations: z.array(z.string()),
  state: z.enum(LISTED),
  since: z.string().nullable(),
  muted: z.boolean().default(false),
  // Services of earlier releases leave these out.
  mutedByGroup: z.boolean().default(false),
  inMaintenance: z.boolean().default(false),
  acknowledgement: z
    .looseObject({ by: z.looseObject({ name: z.string() }) })
    .nullable()
    .default(null),
  unknownReason: z.string().nullable(),
  hasErrors: z.boolean(),
  lastRunLocation: z.string().nullable(),
  lastResponseTime: z.number().nullable(),
  usualResponseTime: z.number().nullable(),
  lastError: z
    .looseObject({
      code: z.string().nullable(),
      message: z.string().nullable(),
      location: z.string(),
    })
    .nullable(),
});
/** A check that does not pass, as the API has it (src/service/README.md, "Check statuses"). */
export type ListedStatus = z.output<typeof statusSchema>;

const silentSince = z.string().nullable();
const locationsSchema = z.array(
  z.looseObject({ id: z.string(), slug: z.string(), name: z.string(), silentSince }),
);
const locationStatusSchema = z.looseObject({ silentSince, checks: z.int() });

/** A private location without a polling agent. */
export interface SilentLocation {
  readonly slug: string;
  readonly name: string;
  /** ISO 8601. */
  readonly since: string;
  /** How many checks do not run there. They may pass in another location. null if they are not counted. */
  readonly checks: number | null;
}

export interface Board {
  readonly counts: StateCounts;
  /** Excludes checks that are unknown because their locations are silent. */
  readonly statuses: readonly ListedStatus[];
  /** Whether there are more. */
  readonly isCut: boolean;
  readonly silentLocations: readonly SilentLocation[];
}

type BoardClient = Pick<ApiClient, 'get' | 'find'>;

/**
 * Reads the current problems.
 *
 * @param onlyDown whether to read only failing checks
 * @throws VedetteError as ApiClient.get
 */
export async function readBoard(
  client: BoardClient,
  onlyDown: boolean,
  signal: AbortSignal,
): Promise<Board> {
  const counted = await client.get('/v1/check-state-counts', signal);
  const counts = readAs(countsSchema, counted, 'count of checks');
  const states = onlyDown ? (['failing'] as const) : LISTED;
  const query = states.map((state) => `state=${state}`).join('&');
  const list = z.array(statusSchema);
  const { entries, isCut } = await firstPages(
    client,
    `/v1/check-statuses?${query}&silent=false`,
    (json) => readAs(list, json, 'list of statuses'),
    { maxPages: MAX_PAGES, signal },
  );
  const silentLocations = onlyDown ? [] : await readSilentLocations(client, signal);
  // Pages shift while checks change their states, so an entry may occur twice.
  const byId = new Map(entries.map((entry) => [entry.checkId, entry]));
  return { counts, statuses: [...byId.values()], isCut, silentLocations };
}

/** Only silent locations are counted: `--watch` reads them after each change. */
async function readSilentLocations(
  client: BoardClient,
  signal: AbortSignal,
): Promise<readonly SilentLocation[]> {
  const { entries } = await firstPages(
    client,
    '/v1/private-locations',
    (json) => readAs(locationsSchema, json, 'list of locations'),
    { maxPages: MAX_PAGES, signal },
  );
  const silent: SilentLocation[] = [];
  let counted = 0;
  for (const { id, slug, name, silentSince: listedSince } of entries) {
    if (listedSince === null) continue;
    if (counted === MAX_COUNTED_LOCATIONS) {
      silent.push({ slug, name, since: listedSince, checks: null });
      continue;
    }
    counted += 1;
    const path = `/v1/private-location-statuses/${encodeURIComponent(id)}`;
    const json = await client.find(path, signal);
    // The location was deleted.
    if (json === null) continue;
    const { silentSince: since, checks } = readAs(
      locationStatusSchema,
      json,
      'status of a location',
    );
    // The list is up to a minute older: its agents may poll again.
    if (since !== null) silent.push({ slug, name, since, checks });
  }
  return silent;
}
