import type { VNode } from 'preact';
import { numberText, pluralText } from '../../../../web/status/texts.tsx';
import type { PageState, ServiceCondition, ServiceOnPage } from '../../state/page-state.ts';

/** Predicates for one service and for several. */
const PREDICATES: Readonly<Record<ServiceCondition, readonly [string, string]>> = {
  OPERATIONAL: ['is operational', 'are operational'],
  UNKNOWN: ['has no current data', 'have no current data'],
  MAINTENANCE: ['is under maintenance', 'are under maintenance'],
  DEGRADED: ['is degraded', 'are degraded'],
  PARTIAL_OUTAGE: ['has a partial outage', 'have a partial outage'],
  MAJOR_OUTAGE: ['has a major outage', 'have a major outage'],
};
/** The worst first. */
const PROBLEMS: readonly ServiceCondition[] = ['MAJOR_OUTAGE', 'PARTIAL_OUTAGE', 'DEGRADED'];

/** The state of a page in words. */
export interface Sentence {
  /** The service that the sentence begins with; null if it names none. */
  readonly subject: string | null;
  readonly predicate: string;
  /** Since when; null if unknown. */
  readonly sinceMs: number | null;
  /** About the other services; empty without any. */
  readonly others: string;
}

/** The services of the page, each once, in its order. */
function servicesOf({ cards }: Pick<PageState, 'cards'>): readonly ServiceOnPage[] {
  const all = cards.flatMap(({ services }) => services);
  return [...new Map(all.map((service) => [service.id, service])).values()];
}

/** The services with a problem that the sentence does not name, the worst first. */
export function unnamedTroubled(
  state: Pick<PageState, 'cards'>,
  { subject }: Sentence,
): readonly ServiceOnPage[] {
  const all = servicesOf(state);
  // The sentence is about all of them.
  if (new Set(all.map(({ condition }) => condition)).size === 1) return [];
  const troubled = PROBLEMS.flatMap((problem) =>
    all.filter(({ condition }) => condition === problem),
  );
  // The subject is the only one in the worst condition.
  return subject === null ? troubled : troubled.slice(1);
}

export function sentenceOf(state: PageState): Sentence {
  const { condition, incidents } = state;
  const all = servicesOf(state);
  const [singular, plural] = PREDICATES[condition];
  const named = all.filter((service) => service.condition === condition);
  const times = named.flatMap(({ sinceMs }) => (sinceMs === null ? [] : [sinceMs]));
  const sinceMs = times.length === 0 ? null : Math.min(...times);
  if (all.length === 0) {
    const [subject, predicate] =
      incidents.length === 0 ? ['This page', 'shows no services yet'] : ['There', 'is an incident'];
    return { subject: null, predicate: `${subject} ${predicate}`, sinceMs: null, others: '' };
  }
  const others = othersText(all, condition);
  if (all.length > 1 && named.length === all.length) {
    return { subject: null, predicate: `All services ${plural}`, sinceMs, others };
  }
  const [only] = named;
  if (named.length === 1 && only !== undefined) {
    return { subject: only.name, predicate: singular, sinceMs, others };
  }
  const predicate = `${pluralText(named.length, 'service', 'services')} ${plural}`;
  return { subject: null, predicate, sinceMs, others };
}

function othersText(all: readonly ServiceOnPage[], worst: ServiceCondition): string {
  const others = all.filter(({ condition }) => condition !== worst);
  if (others.length === 0) return '';
  const troubled = others.filter(({ condition }) => PROBLEMS.includes(condition)).length;
  if (troubled === 1) return 'Another service has a problem, too.';
  if (troubled > 1) return `${numberText(troubled)} other services have a problem, too.`;
  const fine = others.filter(({ condition }) => condition === 'OPERATIONAL').length;
  if (fine === 0) return '';
  const [is, are] = PREDICATES.OPERATIONAL;
  if (fine < others.length) return `${pluralText(fine, `service ${is}`, `services ${are}`)}.`;
  return fine === 1 ? `The other service ${is}.` : `The other ${fine} services ${are}.`;
}

export const sentenceText = ({ subject, predicate }: Sentence): string =>
  subject === null ? predicate : `${subject} ${predicate}`;

/** Isolates the direction of the name, which may differ from that of the sentence. */
export function SentenceWords({ subject, predicate }: Sentence): VNode {
  return (
    <>
      {subject !== null && <bdi>{subject}</bdi>}
      {subject !== null && ' '}
      {predicate}
    </>
  );
}
