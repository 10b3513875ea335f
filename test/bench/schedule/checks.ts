import { slotRuleOf } from '../../../src/model/schedule/slot-rule.ts';

/** How many checks there are of each period. */
export interface Mix {
  readonly minutely: number;
  readonly tenSecondly: number;
  /** How many of the latter go to the server with the known delay. */
  readonly held: number;
}

export interface PlannedCheck {
  readonly id: string;
  /** The IPv4 address of this check alone, as a number; null if it opens no TCP connection. */
  readonly address: number | null;
  readonly periodMs: number;
  readonly phaseMs: number;
  readonly body: object;
}

/** The first of the targets' addresses: 127.10.0.1. */
const FIRST_ADDRESS = ((127 * 256 + 10) * 256 + 0) * 256 + 1;
const NAME = 'bench.example';

interface Body {
  readonly checkType: 'API' | 'URL' | 'TCP' | 'DNS';
  readonly frequency: 0 | 1;
  readonly frequencyOffset?: number;
  readonly request: object;
}
type Probe = Pick<Body, 'checkType' | 'request'>;

interface Ports {
  readonly port: number;
  readonly heldPort: number;
}

/** Five of ten checks are API, two URL and three TCP; of those at one minute, one in fifty is DNS. */
export function plannedChecks(mix: Mix, ports: Ports): readonly PlannedCheck[] {
  const often = Array.from({ length: mix.tenSecondly }, (_, n) =>
    n < mix.held ? heldCheck(n, ports.heldPort) : oftenCheck(n, ports.port),
  );
  const minutely = Array.from({ length: mix.minutely }, (_, n) =>
    minutelyCheck(mix.tenSecondly + n, ports.port),
  );
  return [...often, ...minutely];
}

const OFTEN = { frequency: 0, frequencyOffset: 10 } as const;
const STATUS_IS_200 = { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' };

function heldCheck(n: number, port: number): PlannedCheck {
  const address = FIRST_ADDRESS + n;
  const request = { url: `http://${textOf(address)}:${port}/held` };
  return planned(`held-${n}`, address, { checkType: 'API', ...OFTEN, request });
}

function oftenCheck(n: number, port: number): PlannedCheck {
  const address = FIRST_ADDRESS + n;
  const body = n % 10 < 3 ? tcp(address, port) : api(address, port);
  return planned(`often-${n}`, address, { ...body, ...OFTEN });
}

/** Checks every 10 s whose request is never answered. */
export function hangingChecks(
  count: number,
  port: number,
): readonly Pick<PlannedCheck, 'id' | 'body'>[] {
  const request = { url: `http://127.0.0.1:${port}/never` };
  return Array.from({ length: count }, (_, n) => {
    const id = `hanging-${n}`;
    return { id, body: { id, name: id, checkType: 'API', ...OFTEN, retryStrategy: null, request } };
  });
}

function minutelyCheck(n: number, port: number): PlannedCheck {
  const address = FIRST_ADDRESS + n;
  if (n % 50 === 49) {
    const request = { query: NAME, nameServer: '127.0.0.1', port };
    return planned(`dns-${n}`, null, { checkType: 'DNS', frequency: 1, request });
  }
  const body =
    n % 10 < 3 ? tcp(address, port) : n % 10 < 5 ? url(address, port) : api(address, port);
  return planned(`minutely-${n}`, address, { ...body, frequency: 1 });
}

function tcp(address: number, port: number): Probe {
  return { checkType: 'TCP', request: { hostname: textOf(address), port } };
}

function url(address: number, port: number): Probe {
  return { checkType: 'URL', request: { url: `http://${textOf(address)}:${port}/` } };
}

function api(address: number, port: number): Probe {
  const request = { url: `http://${textOf(address)}:${port}/`, assertions: [STATUS_IS_200] };
  return { checkType: 'API', request };
}

function planned(id: string, address: number | null, body: Body): PlannedCheck {
  const rule = slotRuleOf(id, body.frequency, body.frequencyOffset ?? null);
  return { id, address, ...rule, body: { id, ...body } };
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
