import { slotRuleOf } from '../../../../src/model/schedule/slot-rule.ts';
import { GROUPS, type Group, PORTS, TARGET_ADDRESS } from './fixture.ts';

/** A check of the storm; all are due every ten seconds. */
export interface StormCheck {
  readonly id: string;
  readonly group: Group;
  readonly retries: 0 | 1;
  /** Whether its failure is one of the network: a TCP check that is reset was connected. */
  readonly losesNetwork: boolean;
  /** As the protocol has it. */
  readonly assignment: object;
}

export const PERIOD_SECONDS = 10;
const ONE_RETRY = { type: 'FIXED', baseBackoffSeconds: 1, maxRetries: 1 };

/** Half of them API, half TCP; half of the failing ones are retried after a second. */
export function stormChecks(counts: Readonly<Record<Group, number>>): readonly StormCheck[] {
  return GROUPS.flatMap((group) =>
    Array.from({ length: counts[group] }, (_, index) =>
      checkOf(group, index, { isApi: index % 2 === 0, retries: index % 4 < 2 ? 1 : 0 }),
    ),
  );
}

function checkOf(
  group: Group,
  index: number,
  { isApi, retries }: { readonly isApi: boolean; readonly retries: 0 | 1 },
): StormCheck {
  const id = `${group}-${index}`;
  const hostname = group === 'nameless' ? `${id}.routed.test` : TARGET_ADDRESS;
  const { http, tcp } = PORTS[group];
  const heard = { source: 'RESPONSE_DATA', comparison: 'EQUALS', target: 'hello' };
  const request = isApi
    ? { method: 'GET', url: `http://${hostname}:${http}/` }
    : { hostname, port: tcp, data: 'hello', assertions: [heard] };
  const check = {
    checkType: isApi ? 'API' : 'TCP',
    name: id,
    frequency: 0,
    frequencyOffset: PERIOD_SECONDS,
    retryStrategy: retries === 1 ? ONE_RETRY : null,
    request,
  };
  const slots = { ...slotRuleOf(id, 0, PERIOD_SECONDS), stride: 1, index: 0 };
  const losesNetwork = group !== 'healthy' && (isApi || group !== 'reset');
  return { id, group, retries, losesNetwork, assignment: { checkId: id, slots, check } };
}
