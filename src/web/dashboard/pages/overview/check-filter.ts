import type { UrlState } from '../../shell/url-state.ts';
import type { CheckFilter, CheckState, CheckType } from './overview-data.ts';

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

/** What of the query of the address the API takes. The rest is ignored, as if somebody mistyped it. */
export function filterIn(state: Pick<UrlState, 'get' | 'all'>): CheckFilter {
  const types = state.all('type').filter((type): type is CheckType => type in TYPE_LABELS);
  const states = state.all('state').filter((each): each is CheckState => each in STATE_LABELS);
  const tags = [...state.all('tag')];
  const group = state.get('group') ?? '';
  const location = state.get('location');
  const search = state.get('search');
  return {
    ...(types.length === 0 ? {} : { type: types }),
    ...(states.length === 0 ? {} : { state: states }),
    ...(tags.length === 0 ? {} : { tag: tags }),
    ...(/^\d{1,15}$/.test(group) ? { groupId: Number(group) } : {}),
    ...(location === null ? {} : { location }),
    ...(search === null ? {} : { search }),
  };
}
