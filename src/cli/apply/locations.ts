import { z } from 'zod';
import type { Check } from '../../model/check/check.ts';
import type { FileResources } from '../../model/check-file/sections.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { nearestName } from '../../runtime/text/nearest-name.ts';
import { allPages } from '../service-api/all-pages.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import type { ApplyRefusal, ApplyStep } from './check-plan.ts';

const MAX_NAMED = 10;

const locationsSchema = z.array(z.looseObject({ id: z.string(), slug: z.string() }));

export interface KnownLocation {
  readonly id: string;
  readonly slug: string;
}

/** The private locations of the account. */
export function knownLocations(
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<readonly KnownLocation[]> {
  return allPages(client, '/v1/private-locations', readLocations, signal);
}

function readLocations(json: unknown): readonly KnownLocation[] {
  const parsed = locationsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const message =
    'SERVICE_URL names no Vedette service: its list of private locations is not valid';
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}

/** Whether the file sets where the check runs. */
function isPlaced({ locations, privateLocations }: Check): boolean {
  return (locations?.length ?? 0) + (privateLocations?.length ?? 0) > 0;
}

/**
 * Gives each check a location: its own, else the given one, else the account's only private location.
 *
 * @param given the slug of --location; null if there is none
 * @throws VedetteError of kind `usage` if there is no such location, or if the choice is not clear
 */
export async function withDefaultLocation(
  checks: readonly Check[],
  given: string | null,
  known: () => Promise<readonly KnownLocation[]>,
): Promise<readonly Check[]> {
  const unplaced = checks.find((check) => !isPlaced(check));
  if (unplaced === undefined && given === null) return checks;
  const slugs = (await known()).map(({ slug }) => slug);
  const slug = given === null ? onlyOne(slugs, unplaced?.id ?? '') : existing(given, slugs);
  return checks.map((check) => (isPlaced(check) ? check : { ...check, privateLocations: [slug] }));
}

/**
 * Adapts checks to a service with only the given locations: a check runs in its private locations that exist,
 * or else in `home`.
 */
export function withExistingLocations(
  checks: readonly Check[],
  slugs: readonly string[],
  home: string,
): readonly Check[] {
  return checks.map((check) => {
    const there = (check.privateLocations ?? []).filter((slug) => slugs.includes(slug));
    return { ...check, privateLocations: there.length > 0 ? there : [home] };
  });
}

/** Like `withExistingLocations`, for groups, which need no location. */
export function withExistingGroupLocations(
  resources: FileResources,
  slugs: readonly string[],
): FileResources {
  const groups = resources.sections.groups.map(({ id, fields }) => {
    const named = z.array(z.string()).safeParse(fields.privateLocations).data ?? [];
    const there = named.filter((slug) => slugs.includes(slug));
    return { id, fields: { ...fields, privateLocations: there.length > 0 ? there : null } };
  });
  return { ...resources, sections: { ...resources.sections, groups } };
}

/** The checks that the service will refuse because some of their private locations do not exist. */
export function refusedByLocation(
  steps: readonly ApplyStep[],
  known: readonly KnownLocation[],
): readonly ApplyRefusal[] {
  const slugs = known.map(({ slug }) => slug);
  return steps.flatMap((step): readonly ApplyRefusal[] => {
    if (step.kind === 'delete') return [];
    const { id, privateLocations } = step.check;
    const missing = (privateLocations ?? []).filter((slug) => !slugs.includes(slug));
    const reasons = missing.map(
      (slug) =>
        `will be refused: there is no private location ${JSON.stringify(slug)}; ${thereAre(slugs)}`,
    );
    return reasons.length === 0 ? [] : [{ kind: 'check', id, reasons }];
  });
}

function existing(given: string, slugs: readonly string[]): string {
  if (slugs.includes(given)) return given;
  const nearest = nearestName(given, slugs);
  const hint = nearest === null ? thereAre(slugs) : `did you mean ${nearest}?`;
  throw noLocation(`no private location has the slug ${JSON.stringify(given)}; ${hint}`);
}

function onlyOne(slugs: readonly string[], id: string): string {
  const [slug] = slugs;
  if (slug !== undefined && slugs.length === 1) return slug;
  const what = `check ${JSON.stringify(id)} names no location to run in`;
  const todo =
    slugs.length === 0
      ? 'create one with vedette location add SLUG, or name public ones in the file'
      : 'choose one with --location, or name some in the file';
  throw noLocation(`${what}; ${thereAre(slugs)}: ${todo}`);
}

function thereAre(slugs: readonly string[]): string {
  if (slugs.length === 0) return 'the account has no private location';
  const more = slugs.length > MAX_NAMED ? ` and ${slugs.length - MAX_NAMED} more` : '';
  return `the account has ${slugs.toSorted().slice(0, MAX_NAMED).join(', ')}${more}`;
}

function noLocation(message: string): VedetteError {
  return new VedetteError('usage', 'NO_LOCATION', message);
}
