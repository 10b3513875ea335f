import type { operations } from '../../api/openapi.d.ts';
import type { UrlState } from '../../shell/url-state.ts';

type Given = NonNullable<operations['getCheckStateCounts']['parameters']['query']>;
/** The filter of the checks, from the query of the address. */
export type CheckFilter = Readonly<Omit<Given, 'activated'>>;
export type CheckState =
  keyof operations['getCheckStateCounts']['responses'][200]['content']['application/json'];
export type CheckType = NonNullable<Given['type']>[number];
export type GroupBy = operations['getCheckStateBreakdown']['parameters']['query']['by'];

export const TYPE_LABELS: Readonly<Partial<Record<CheckType, string>>> = {
  URL: 'URL',
  API: 'API',
  TCP: 'TCP',
  DNS: 'DNS',
  ICMP: 'ICMP',
  HEARTBEAT: 'Heartbeat',
};

/** In the order of the list. */
export const STATE_LABELS: Readonly<Record<CheckState, string>> = {
  failing: 'Failing',
  degraded: 'Degraded',
  unknown: 'Unknown',
  passing: 'Passing',
  paused: 'Paused',
};
export const STATES = Object.keys(STATE_LABELS) as CheckState[];

export const GROUP_BY_LABELS: Readonly<Record<GroupBy, string>> = {
  group: 'Group',
  tag: 'Tag',
  location: 'Location',
};

const isWithout = (given: string): given is GroupBy => given in GROUP_BY_LABELS;

/** The part of the query of the address that the API accepts. The rest is ignored, because it may be mistyped. */
export function filterIn(state: Pick<UrlState, 'get' | 'all'>): CheckFilter {
  const types = state
    .all('type')
    .filter((type): type is CheckType => Object.hasOwn(TYPE_LABELS, type));
  const states = state.all('state').filter((each): each is CheckState => each in STATE_LABELS);
  const tags = [...state.all('tag')];
  const group = state.get('group') ?? '';
  const location = state.get('location');
  const search = state.get('search');
  const without = state.all('without').filter(isWithout);
  const silent = state.get('silent');
  return {
    ...(types.length === 0 ? {} : { type: types }),
    ...(states.length === 0 ? {} : { state: states }),
    ...(tags.length === 0 ? {} : { tag: tags }),
    ...(/^\d{1,15}$/.test(group) ? { groupId: Number(group) } : {}),
    ...(location === null ? {} : { location }),
    ...(search === null ? {} : { search }),
    ...(without.length === 0 ? {} : { without }),
    ...(silent === 'true' || silent === 'false' ? { silent: silent === 'true' } : {}),
  };
}

export function groupByIn(state: Pick<UrlState, 'get'>): GroupBy | null {
  const given = state.get('group-by') ?? '';
  return isWithout(given) ? given : null;
}

/**
 * The filter of a section.
 *
 * @param value a tag, the id of a group or a location; null for the checks without any
 */
export function sectionFilter(filter: CheckFilter, by: GroupBy, value: string | null): CheckFilter {
  if (value === null) return { ...filter, without: [...(filter.without ?? []), by] };
  if (by === 'tag') return { ...filter, tag: [value] };
  return { ...filter, ...(by === 'group' ? { groupId: Number(value) } : { location: value }) };
}

/** A check with a tag of the filter may have others: their sections would lack checks. */
export function hasSection(filter: CheckFilter, by: GroupBy, value: string | null): boolean {
  if (by === 'tag' && filter.tag !== undefined) return value !== null && filter.tag.includes(value);
  if (by === 'location' && filter.location !== undefined) return value === filter.location;
  return true;
}
