import type { Sql } from '../database/store.ts';
import type { Warning } from '../http/resources/warnings.ts';
import { slugsWithAgents } from './live-agents.sql.ts';

/** Maximum number of locations that warnings name individually. */
const MAX_NAMED = 20;

/** A warning for the public locations of a check or a group; none if it names none. */
export function publicLocationWarnings(locations: readonly string[] | null): readonly Warning[] {
  if (locations === null || locations.length === 0) return [];
  const message = `No agent serves public locations, so nothing runs in ${locations.join(', ')}. Name private locations instead.`;
  return [{ code: 'PUBLIC_LOCATION_NOT_SERVED', message, path: 'locations' }];
}

/**
 * The private locations without a live agent, by the database's clock.
 *
 * @param pathOf the field that names the location of an index
 */
export async function privateLocationWarnings(
  sql: Sql,
  {
    accountId,
    slugs,
    pathOf = (index) => `privateLocations[${index}]`,
  }: {
    readonly accountId: string;
    readonly slugs: readonly string[] | null;
    readonly pathOf?: (index: number) => string;
  },
): Promise<readonly Warning[]> {
  const named = slugs ?? [];
  const served = await slugsWithAgents(sql, { accountId, slugs: named });
  const code = 'LOCATION_WITHOUT_AGENTS';
  const warnings = named.flatMap((slug, index): readonly Warning[] => {
    if (served.has(slug)) return [];
    const message = `No agent of the private location ${slug} is connected, so nothing runs there. Start an agent with a key of this location.`;
    return [{ code, message, path: pathOf(index) }];
  });
  const more = warnings.length - MAX_NAMED;
  if (more <= 0) return warnings;
  const message = `${more} more of the private locations have no agent.`;
  return [...warnings.slice(0, MAX_NAMED), { code, message }];
}
