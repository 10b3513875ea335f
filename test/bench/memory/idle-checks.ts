import { slotRuleOf } from '../../../src/model/schedule/slot-rule.ts';

const DAILY = 1440;
const HALF_A_DAY_HOURS = 12;

/** A usual mix: of four checks two are API checks, one is a URL and one a TCP check. */
export function idleChecks(count: number, nowMs: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({ id: `check-${n}`, ...bodyOf(n, nowMs) }));
}

/** The same checks, as a service assigns them to an agent. */
export function idleAssignments(count: number, nowMs: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => {
    const checkId = `check-${n}`;
    const slots = slotRuleOf(checkId, DAILY, offsetFrom(nowMs));
    return { checkId, slots: { ...slots, stride: 1, index: 0 }, check: bodyOf(n, nowMs) };
  });
}

function bodyOf(n: number, nowMs: number): object {
  const common = {
    name: `Check number ${n}`,
    frequency: DAILY,
    frequencyOffset: offsetFrom(nowMs),
    tags: ['team-a'],
  };
  const hostname = `host-${n}.example.com`;
  if (n % 4 === 3) return { ...common, checkType: 'TCP', request: { hostname, port: 443 } };
  const assertions = [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }];
  const request = { url: `https://${hostname}/health`, assertions };
  if (n % 4 === 2) return { ...common, checkType: 'URL', request };
  const headers = [{ key: 'accept', value: 'application/json' }];
  return { ...common, checkType: 'API', request: { ...request, headers } };
}

/** Hours after midnight UTC at which they are due: not during the measurement. */
function offsetFrom(nowMs: number): number {
  return (new Date(nowMs).getUTCHours() + HALF_A_DAY_HOURS) % 24 || 24;
}
