import { durationText } from '../../../runtime/text/duration-text.ts';
import { CONDITION_WORDS } from '../../../web/status/conditions.tsx';
import { availabilityText } from '../../../web/status/texts.tsx';
import type { PageState, ServiceCondition, ServiceOnPage } from '../state/page-state.ts';
import type { Badge, BadgeColor } from './draw-badge.ts';

export const BADGE_KINDS = ['state', 'uptime', 'response-time'] as const;
export type BadgeKind = (typeof BADGE_KINDS)[number];

/** The periods of an uptime badge in days; the last is the default. */
export const BADGE_DAYS = [1, 7, 30, 90] as const;
export type BadgeDays = (typeof BADGE_DAYS)[number];

const CONDITION_COLORS: Readonly<Record<ServiceCondition, BadgeColor>> = {
  OPERATIONAL: 'green',
  UNKNOWN: 'gray',
  MAINTENANCE: 'blue',
  DEGRADED: 'yellow',
  PARTIAL_OUTAGE: 'orange',
  MAJOR_OUTAGE: 'red',
};
/** The lowest availability of each colour. */
const UPTIME_COLORS: readonly (readonly [number, BadgeColor])[] = [
  [0.999, 'green'],
  [0.99, 'yellow'],
  [0.95, 'orange'],
  [0, 'red'],
];
const NO_DATA = { value: 'no data', color: 'gray' } as const;

/** The subject of a badge. */
export interface BadgeOf {
  readonly kind: BadgeKind;
  readonly days: BadgeDays;
  /** The id of the service; null for the page. */
  readonly serviceId: string | null;
}

/** null if the page has no such service. */
export function badgeOf(state: PageState, { kind, days, serviceId }: BadgeOf): Badge | null {
  const all = [
    ...new Map(
      state.cards.flatMap(({ services }) => services).map((one) => [one.id, one]),
    ).values(),
  ];
  const service = serviceId === null ? null : all.find(({ id }) => id === serviceId);
  if (service === undefined) return null;
  if (kind === 'state') {
    const { condition } = service ?? state;
    const value = CONDITION_WORDS[condition].toLowerCase();
    return { label: service?.name ?? 'status', value, color: CONDITION_COLORS[condition] };
  }
  const services = service === null ? all : [service];
  const subject = service === null ? {} : { name: service.name };
  if (kind === 'uptime') return { ...subject, label: 'uptime', ...uptimeOf(services, days) };
  return { ...subject, label: 'response time', ...responseTimeOf(services) };
}

/** The mean over the services with an availability. Each service has the same weight, however often it is checked. */
function uptimeOf(
  services: readonly ServiceOnPage[],
  days: BadgeDays,
): Pick<Badge, 'value' | 'color'> {
  const shares = services.flatMap(({ history }) => {
    if (history === null) return [];
    if (days === BADGE_DAYS.at(-1)) return history.availability ?? [];
    const counted = history.days.slice(-days);
    const runs = counted.reduce((sum, day) => sum + day.runs, 0);
    const failures = counted.reduce((sum, day) => sum + day.failures, 0);
    return runs === 0 ? [] : (runs - failures) / runs;
  });
  const share = meanOf(shares);
  if (share === null) return NO_DATA;
  const color = UPTIME_COLORS.find(([least]) => share >= least)?.[1] ?? 'red';
  return { value: availabilityText(share), color };
}

function responseTimeOf(services: readonly ServiceOnPage[]): Pick<Badge, 'value' | 'color'> {
  const meanMs = meanOf(services.flatMap(({ responseTimeMs }) => responseTimeMs ?? []));
  return meanMs === null ? NO_DATA : { value: durationText(meanMs), color: 'blue' };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length;
}
