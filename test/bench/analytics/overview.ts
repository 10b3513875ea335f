import type { Features } from '../../../src/service/feature-types.ts';
import type { ServiceApp } from '../../support/service/service-app.ts';
import type { Measured } from '../part.ts';
import { newKeyFor, percentiles } from './percentiles.ts';

const LIMIT_MS = 300;
const CHECKS_OF_PAGE = 100;

/** The requests of a page that shows the states of all checks of an account. */
const OVERVIEW = [
  {
    what: `${CHECKS_OF_PAGE} statuses with cells`,
    path: `/v1/check-statuses?limit=${CHECKS_OF_PAGE}&cells=true`,
    shows: '"cells":{',
  },
  {
    what: 'the failing ones',
    path: `/v1/check-statuses?limit=${CHECKS_OF_PAGE}&state=failing`,
    shows: '"state":"failing"',
  },
  {
    what: `${CHECKS_OF_PAGE} summaries of a week`,
    path: `/v1/analytics/summaries?limit=${CHECKS_OF_PAGE}&quickRange=last7Days`,
    shows: '"responseTime":{"avg":',
  },
  {
    what: `${CHECKS_OF_PAGE} summaries of a year`,
    path: `/v1/analytics/summaries?limit=${CHECKS_OF_PAGE}&from=${Math.floor(Date.now() / 1000) - 364 * 86_400}`,
    shows: '"responseTime":{"avg":',
  },
  { what: 'counts', path: '/v1/check-state-counts', shows: '"passing":' },
  { what: 'counts by tag', path: '/v1/check-state-breakdown?by=tag', shows: '"passing":' },
  {
    what: 'silent locations',
    path: '/v1/check-state-breakdown?by=location&silent=true',
    shows: '"entries":[',
  },
] as const;

export interface OverviewParts {
  readonly service: ServiceApp;
  readonly features: Features;
  readonly accountId: string;
  readonly checks: number;
  readonly rounds: number;
  readonly progress: (doing: string) => void;
}

export async function measureOverview(parts: OverviewParts): Promise<readonly Measured[]> {
  const { service, features, accountId, checks, rounds, progress } = parts;
  const measured: Measured[] = [];
  for (const { what, path, shows } of OVERVIEW) {
    progress(`overview: ${what}`);
    const values = await percentiles(
      rounds,
      (read) => newKeyFor(features, accountId, read),
      async (key) => {
        const askedMs = performance.now();
        const { status, text } = await service.ask(path, { key });
        const tookMs = performance.now() - askedMs;
        if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
        if (!text.includes(shows)) throw new Error(`${path} lacks ${shows}: ${text.slice(0, 500)}`);
        return tookMs;
      },
    );
    measured.push({
      measure: `Overview: ${what}, of ${checks.toLocaleString('en')} checks, 95th percentile`,
      values,
      unit: 'ms',
      target: { of: 'value', bound: 'at most', number: LIMIT_MS },
    });
  }
  return measured;
}
