import type { ServiceCondition } from '../../../src/model/incident/status-page-incident.ts';
import { statusPageSchema } from '../../../src/model/status-page/status-page.ts';
import type {
  DayOnPage,
  ServiceHistory,
} from '../../../src/service/status-pages/state/daily-history.ts';
import type {
  IncidentOnPage,
  MaintenanceOnPage,
  PageState,
  ServiceOnPage,
} from '../../../src/service/status-pages/state/page-state.ts';
import type { ShownPage } from '../../../src/web/status/layout.tsx';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
export const SAMPLE_NOW_MS = Date.parse('2026-11-22T10:32:40Z');
const DAYS = 90;
const RUNS = 1_440;
const RUN_MS = 60_000;

const NAMES = [
  'Shop',
  'Payments',
  'Search',
  'Sign-in',
  'Warehouse interface',
  'Order export',
  'Customer portal',
  'Mail delivery',
  'Product images',
  'Invoices',
  'Recommendations',
  'Partner API',
];
const CARDS = ['Storefront', 'Back office', 'Interfaces', 'Infrastructure', 'Partners', 'Internal'];

/** A page of the sample; `fields` replace the defaults. */
export function samplePage(
  fields: object = {},
  pictures: ShownPage['page']['pictures'] = {},
): ShownPage {
  const { cards: _, ...all } = statusPageSchema.parse({
    name: 'Acme',
    url: 'acme',
    description: 'How the services of Acme are doing, measured every minute from four places.',
    ...fields,
  });
  const base = 'https://monitor.example.com/status/acme';
  return { page: { fields: all, pictures }, base, path: '/status/acme' };
}

export function sampleDay(index: number, own: Partial<DayOnPage> = {}): DayOnPage {
  const day = new Date(SAMPLE_NOW_MS - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
  return {
    day,
    runs: RUNS,
    failures: 0,
    degraded: 0,
    missed: 0,
    failingMs: (own.failures ?? 0) * RUN_MS,
    degradedMs: (own.degraded ?? 0) * RUN_MS,
    missedMs: (own.missed ?? 0) * RUN_MS,
    condition: 'OPERATIONAL',
    incidents: [],
    maintenance: [],
    ...own,
  };
}

/** 90 days; those of `own` differ. */
export function sampleDays(own: Readonly<Record<number, Partial<DayOnPage>>> = {}): DayOnPage[] {
  return Array.from({ length: DAYS }, (_, index) => sampleDay(index, own[index]));
}

export function sampleService(
  own: Partial<ServiceOnPage> & { readonly id: string },
): ServiceOnPage {
  return {
    name: own.id,
    condition: 'OPERATIONAL',
    sinceMs: null,
    responseTimeMs: 184,
    usualResponseTimeMs: 184,
    history: { availability: 0.99987, days: sampleDays() },
    ...own,
  };
}

/** Ordinary incidents and failures, different for each service. */
function eventfulDays(seed: number): DayOnPage[] {
  const at = (step: number): number => (seed * 37 + step * 29) % 88;
  const own: Record<number, Partial<DayOnPage>> = {};
  if (seed % 3 === 0) own[at(1)] = { condition: 'DEGRADED', failures: 12, degraded: 85 };
  if (seed % 4 === 1) {
    const incidents = [{ id: `past-${seed}`, name: 'Card payments fail' }];
    own[at(2)] = { condition: 'PARTIAL_OUTAGE', failures: 131, incidents };
  }
  if (seed % 7 === 2) own[at(3)] = { condition: 'MAJOR_OUTAGE', failures: 911, missed: 14 };
  if (seed % 4 === 3) own[at(5)] = { degraded: 9 };
  if (seed % 6 === 4) own[at(6)] = { missed: 190 };
  if (seed % 5 === 3) own[at(4)] = { condition: 'MAINTENANCE', maintenance: ['Database upgrade'] };
  const days = sampleDays(own);
  if (seed % 11 !== 6) return days;
  // Measured for the last weeks only.
  return days.map((day, index) =>
    index < 60 ? { ...day, runs: 0, condition: 'UNKNOWN' as const } : day,
  );
}

/** The days with their availability. */
function historyOf(days: readonly DayOnPage[]): ServiceHistory {
  const sumOf = (field: 'runs' | 'failures') => days.reduce((sum, day) => sum + day[field], 0);
  return { days, availability: (sumOf('runs') - sumOf('failures')) / sumOf('runs') };
}

/** A state in which all services work, `count` of them. */
export function calmState(count: number): PageState {
  const services = Array.from({ length: count }, (_, index) => {
    const round = Math.floor(index / NAMES.length);
    const name = `${NAMES[index % NAMES.length]}${round === 0 ? '' : ` ${round + 1}`}`;
    return sampleService({
      id: `service-${index}`,
      name,
      responseTimeMs: 40 + ((index * 97) % 900),
      usualResponseTimeMs: 40 + ((index * 97) % 900),
      history: historyOf(eventfulDays(index)),
    });
  });
  const size = Math.ceil(count / Math.min(CARDS.length, Math.ceil(count / 5)));
  const cards = CARDS.map((name, index) => ({
    id: `card-${index}`,
    name,
    services: services.slice(index * size, (index + 1) * size),
  })).filter(({ services: own }) => own.length > 0);
  return {
    readAtMs: SAMPLE_NOW_MS,
    condition: 'OPERATIONAL',
    cards,
    incidents: [],
    pastIncidents: [],
    maintenance: [],
  };
}

/** The state with another condition of some services. */
export function withConditions(
  state: PageState,
  conditions: Readonly<Record<string, ServiceCondition>>,
): PageState {
  const changed = (service: ServiceOnPage): ServiceOnPage => {
    const condition = conditions[service.id];
    if (condition === undefined) return service;
    const days = service.history?.days ?? [];
    const today = { ...sampleDay(DAYS - 1), condition, failures: 71, degraded: 203 };
    return {
      ...service,
      condition,
      sinceMs: SAMPLE_NOW_MS - 80 * 60_000,
      responseTimeMs: condition === 'DEGRADED' ? 2_431 : service.responseTimeMs,
      history: historyOf([...days.slice(0, -1), today]),
    };
  };
  return {
    ...state,
    condition: Object.values(conditions).at(0) ?? state.condition,
    cards: state.cards.map((card) => ({ ...card, services: card.services.map(changed) })),
  };
}

export function sampleIncident(own: Partial<IncidentOnPage> = {}): IncidentOnPage {
  return {
    id: 'incident-1',
    name: 'Card payments are slow',
    severity: 'MEDIUM',
    status: 'MONITORING',
    serviceIds: ['service-1'],
    startedAtMs: SAMPLE_NOW_MS - 80 * 60_000,
    resolvedAtMs: null,
    updates: [
      {
        id: 'update-3',
        status: 'MONITORING',
        description:
          'The bank answers again. We watch the queue of payments shrink, which takes about half an hour.',
        atMs: SAMPLE_NOW_MS - 27 * 60_000,
      },
      {
        id: 'update-2',
        status: 'IDENTIFIED',
        description: 'The interface of our bank answers late. Their engineers work on it.',
        atMs: SAMPLE_NOW_MS - 61 * 60_000,
      },
      {
        id: 'update-1',
        status: 'INVESTIGATING',
        description: 'Card payments take up to 12 seconds.\nNone are lost.',
        atMs: SAMPLE_NOW_MS - 74 * 60_000,
      },
    ],
    ...own,
  };
}

export function samplePastIncident(own: Partial<IncidentOnPage> = {}): IncidentOnPage {
  const startedAtMs = own.startedAtMs ?? SAMPLE_NOW_MS - 4 * DAY_MS;
  return {
    ...sampleIncident({
      id: 'past-1',
      name: 'Sign-in fails',
      severity: 'MAJOR',
      status: 'RESOLVED',
    }),
    startedAtMs,
    resolvedAtMs: startedAtMs + 14 * 60_000,
    serviceIds: ['service-3'],
    updates: [
      {
        id: 'update-4',
        status: 'RESOLVED',
        description: 'The service has recovered.',
        atMs: startedAtMs + 14 * 60_000,
      },
    ],
    ...own,
  };
}

/** The newest first. */
const PAST_INCIDENTS = [
  samplePastIncident(),
  samplePastIncident({
    id: 'past-2',
    name: 'Orders are exported late',
    severity: 'MINOR',
    startedAtMs: SAMPLE_NOW_MS - 11 * DAY_MS,
    resolvedAtMs: SAMPLE_NOW_MS - 11 * DAY_MS + 135 * 60_000,
  }),
];

export function sampleMaintenance(own: Partial<MaintenanceOnPage> = {}): MaintenanceOnPage {
  return {
    id: 'window-1',
    name: 'Upgrade of the warehouse database',
    description: null,
    startMs: SAMPLE_NOW_MS + 2 * DAY_MS,
    endMs: SAMPLE_NOW_MS + 2 * DAY_MS + 4 * HOUR_MS,
    isRunning: false,
    announcedMs: SAMPLE_NOW_MS - 3 * DAY_MS,
    changedAtMs: SAMPLE_NOW_MS - 3 * DAY_MS,
    serviceIds: ['service-4'],
    ...own,
  };
}

const LONG =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftsschnittstelle';

/** Every state of the page that looks different, by a name that is valid for files. */
export function sampleStates(): Readonly<Record<string, PageState>> {
  const one = calmState(3);
  const many = calmState(30);
  const all = calmState(120);
  const degraded = withConditions(many, { 'service-1': 'DEGRADED' });
  return {
    'all-well-3': one,
    'all-well-30': {
      ...many,
      maintenance: [sampleMaintenance()],
      pastIncidents: PAST_INCIDENTS,
    },
    'all-well-120': all,
    'degraded-30': { ...degraded, incidents: [sampleIncident()] },
    'outage-3': {
      ...withConditions(one, { 'service-1': 'MAJOR_OUTAGE', 'service-2': 'DEGRADED' }),
      incidents: [sampleIncident({ severity: 'CRITICAL', name: 'Card payments fail' })],
      pastIncidents: PAST_INCIDENTS,
    },
    'outage-120': withConditions(all, {
      'service-7': 'PARTIAL_OUTAGE',
      'service-50': 'PARTIAL_OUTAGE',
      'service-90': 'DEGRADED',
      'service-100': 'UNKNOWN',
    }),
    'maintenance-30': {
      ...withConditions(many, { 'service-4': 'MAINTENANCE' }),
      maintenance: [
        sampleMaintenance({
          id: 'window-0',
          name: 'Network maintenance',
          startMs: SAMPLE_NOW_MS - HOUR_MS,
          endMs: SAMPLE_NOW_MS + HOUR_MS,
          isRunning: true,
        }),
        sampleMaintenance(),
      ],
    },
    'long-and-right-to-left-names': {
      ...calmState(2),
      pastIncidents: [
        samplePastIncident({ name: 'تعطل تسجيل الدخول' }),
        samplePastIncident({ id: 'past-2', name: `${LONG} antwortet nicht` }),
        samplePastIncident({
          id: 'past-3',
          name: 'The partners of our partners cannot order what we no longer have in any of our warehouses',
          severity: 'MINOR',
        }),
      ],
      condition: 'MAJOR_OUTAGE',
      cards: [
        {
          id: 'rtl',
          name: 'خدمات المتجر',
          services: [
            sampleService({
              id: 'service-1',
              name: 'المدفوعات (Payments)',
              condition: 'MAJOR_OUTAGE',
              sinceMs: SAMPLE_NOW_MS - 9 * HOUR_MS,
            }),
            sampleService({ id: 'service-2', name: 'חיפוש' }),
          ],
        },
        {
          id: 'long',
          name: LONG,
          services: [
            sampleService({ id: 'service-3', name: LONG, condition: 'DEGRADED' }),
            sampleService({
              id: 'service-4',
              name: 'The interface with which the partners of our partners order what we no longer have in any of our warehouses',
            }),
          ],
        },
      ],
      incidents: [
        sampleIncident({
          name: 'تعطل المدفوعات',
          severity: 'CRITICAL',
          updates: [
            {
              id: 'u',
              status: 'INVESTIGATING',
              description:
                'نحن نبحث عن السبب. https://example.com/a/very/long/address/without/any/space/that/has/to/break/somewhere/or/else',
              atMs: SAMPLE_NOW_MS - HOUR_MS,
            },
          ],
        }),
      ],
    },
    empty: { ...calmState(0), cards: [] },
  };
}
