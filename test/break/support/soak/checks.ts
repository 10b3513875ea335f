import type { Frequency } from '../../../../src/model/enums.ts';
import type { RunningService } from '../../../support/service/deployment.ts';
import type { TargetPorts } from './targets.ts';

type Type = 'url' | 'api' | 'tcp' | 'dns' | 'icmp';

/** A check of the soak, with its properties for the test. */
export interface SoakCheck {
  readonly id: string;
  readonly type: Type;
  readonly frequency: Frequency;
  /** Seconds, with frequency 0. */
  readonly frequencyOffset: number | null;
  /** It takes longer than its period, so that slots are missed because of the previous run. */
  readonly overruns: boolean;
  /** Each of its results has an artifact. */
  readonly keepsBody: boolean;
}

interface Shape {
  readonly type: Type;
  readonly request: object;
  /** Fields that replace the common ones. */
  readonly fields?: object;
  readonly overruns?: boolean;
}

const RETRIED = { retryStrategy: { type: 'FIXED', baseBackoffSeconds: 1, maxRetries: 1 } };
/** Long enough for targets that hang for the 30 s of an attempt. */
const ONCE = { retryStrategy: null, doubleCheck: false };
const OFTEN = { frequency: 0, frequencyOffset: 10 } as const;
const MINUTELY = { frequency: 1, frequencyOffset: null } as const;
export const SECRET_VARIABLE = 'SOAK_TOKEN';

/** One of each kind; any number of checks rotates through them. */
function shapes(ports: TargetPorts): {
  readonly often: readonly Shape[];
  readonly minutely: readonly Shape[];
} {
  const hostname = '127.0.0.1';
  const plain = `http://127.0.0.1:${ports.http}`;
  const tls = `https://127.0.0.1:${ports.https}`;
  const secret = [{ key: 'x-token', value: `{{${SECRET_VARIABLE}}}` }];
  const api = (url: string, request: object = {}, fields: object = {}): Shape => ({
    type: 'api',
    request: { method: 'GET', url, ...request },
    fields,
  });
  const tcp = (port: number, request: object = {}, fields: object = {}): Shape => ({
    type: 'tcp',
    request: { hostname, port, ...request },
    fields,
  });
  const dns = (query: string, request: object = {}): Shape => ({
    type: 'dns',
    request: { query: `${query}.here.test`, nameServer: hostname, port: ports.dns, ...request },
  });
  const jsonPath = { source: 'JSON_BODY', property: '$.items[*].id', comparison: 'LESS_THAN' };
  const slowPattern = { source: 'TEXT_BODY', comparison: 'IS_NULL', property: '(quick|fox)+$' };
  const echoed = { source: 'RESPONSE_DATA', comparison: 'EQUALS', target: 'hello' };
  return {
    often: [
      api(`${plain}/ok`, { assertions: [{ ...jsonPath, target: '20' }] }),
      tcp(ports.echo, { data: 'hello', assertions: [echoed] }),
      api(`${plain}/echo`, { headers: secret, method: 'POST', bodyType: 'JSON', body: '{"a":1}' }),
      api(`${plain}/slow?ms=700`, {}, { degradedResponseTime: 500 }),
      tcp(ports.echo),
      api(`${plain}/redirect?n=3`),
      api(`${plain}/gzip`, { assertions: [slowPattern] }),
      api(`${tls}/ok`, { skipSSL: true }),
      tcp(ports.refusing, {}, RETRIED),
      api(`${plain}/status?code=503`, {}, RETRIED),
      api(`${plain}/cut`, {}, RETRIED),
      tcp(ports.cutting, { data: 'x', assertions: [echoed] }),
      api(`${plain}/ok`, { queryParameters: [{ key: 'q', value: `{{${SECRET_VARIABLE}}}` }] }),
      api(`${plain}/reset`, {}, { doubleCheck: true }),
      api(`${plain}/ok`),
      api(`${plain}/redirect?n=20`, {}, { retryStrategy: null }),
      { ...tcp(ports.silent, { data: 'x', assertions: [echoed] }, ONCE), overruns: true },
    ],
    minutely: [
      { type: 'url', request: { url: `${plain}/ok` } },
      dns('www', { recordType: 'A' }),
      { type: 'icmp', request: { hostname, pingCount: 2 } },
      { type: 'url', request: { url: `${tls}/ok` }, fields: RETRIED },
      dns('large', { recordType: 'TXT' }),
      { type: 'url', request: { url: `${plain}/big` } },
      dns('missing'),
      { type: 'url', request: { url: `${tls}/br`, skipSSL: true } },
      { ...dns('broken'), fields: ONCE, overruns: true },
      { type: 'icmp', request: { hostname: '127.7.7.7', pingCount: 3 } },
      dns('www', { recordType: 'MX', protocol: 'TCP' }),
      api(`${plain}/long-failure`, {}, { retryStrategy: null }),
      { ...dns('silent'), fields: ONCE, overruns: true },
    ],
  };
}

/** Few checks hang for 30 s: each has a permit for all of that time. */
const HANGING = 4;
/** Checks whose alerts are delivered. */
const FLAPPING = 4;
/** Requests to the API. */
const AT_ONCE = 8;

export interface CheckCounts {
  readonly often: number;
  readonly minutely: number;
}

/** Makes the checks of the soak, in the one location. */
export async function addSoakChecks(
  service: RunningService,
  ports: TargetPorts,
  slug: string,
  counts: CheckCounts,
): Promise<readonly SoakCheck[]> {
  const kinds = shapes(ports);
  const plain = `http://127.0.0.1:${ports.http}`;
  const inTurn = (all: readonly Shape[], index: number): Shape => {
    const shape = all[index % all.length];
    if (shape === undefined) throw new Error('there are no shapes');
    return shape;
  };
  const kindsOf = (path: string, fields: Pick<Shape, 'fields' | 'overruns'>): Shape => ({
    type: 'api',
    request: { method: 'GET', url: `${plain}${path}` },
    ...fields,
  });
  const numbered = (
    name: string,
    count: number,
    when: Pick<SoakCheck, 'frequency' | 'frequencyOffset'>,
    shapeOf: (index: number) => Shape,
  ) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${name}-${index}`,
      shape: shapeOf(index),
      when,
    }));
  const wanted = [
    ...numbered('often', counts.often, OFTEN, (index) => inTurn(kinds.often, index)),
    ...numbered('minutely', counts.minutely, MINUTELY, (index) => inTurn(kinds.minutely, index)),
    ...numbered('hanging', HANGING, OFTEN, () =>
      kindsOf('/hang', { fields: ONCE, overruns: true }),
    ),
    ...numbered('flapping', FLAPPING, OFTEN, () =>
      kindsOf('/flap', { fields: { retryStrategy: null } }),
    ),
  ];
  const put = async ({ id, shape, when }: (typeof wanted)[number]): Promise<void> => {
    const { type, request, fields = {} } = shape;
    const body = { name: id, privateLocations: [slug], ...when, ...fields, request };
    const made = await service.ask(`/v1/checks/${type}/${id}`, { method: 'PUT', body });
    if (made.status !== 200) throw new Error(`PUT ${id}: ${made.status} ${made.text}`);
  };
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    await Promise.all(wanted.slice(from, from + AT_ONCE).map(put));
  }
  return wanted.map(({ id, shape, when }) => {
    const { type, overruns = false } = shape;
    const keepsBody = JSON.stringify(shape).includes('/long-failure');
    return { id, type, ...when, overruns, keepsBody };
  });
}
