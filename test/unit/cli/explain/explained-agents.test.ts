import { describe, expect, it } from 'vitest';
import { explainedAgents, type ShownAgent } from '../../../../src/cli/explain/explained-agents.ts';
import { checkSchema, groupSchema, type Subject } from '../../../../src/cli/explain/subject.ts';
import { wholeAlertSettings } from '../../../../src/model/alerting/alert-settings.ts';
import { CHECK_FEATURE_NAMES } from '../../../../src/model/check/check-features.ts';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../../src/model/enums.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const DEFAULTS = wholeAlertSettings(null);
const GROUP = {
  name: 'Front',
  activated: true,
  muted: false,
  tags: [],
  privateLocations: null,
  alertSettings: null,
  useGlobalAlertSettings: true,
};

function subject(
  type: RunnableCheckType,
  fields: object = {},
  group: object | null = null,
): Subject {
  const shown = checkOf(type, { id: 'shop', frequencyOffset: 10, ...fields });
  const { retryStrategy: _, ...body } = shown;
  return {
    check: checkSchema.parse({ alertSettings: DEFAULTS, ...body }),
    group: group === null ? null : groupSchema.parse({ ...GROUP, ...group }),
    alertSettings: { own: DEFAULTS, group: null, account: DEFAULTS },
  };
}

function agent(
  id: string,
  capabilities: Partial<ShownAgent['capabilities']> = {},
  fields: Partial<ShownAgent> = {},
): ShownAgent {
  const all = {
    types: [...RUNNABLE_CHECK_TYPES],
    ipv6: true,
    icmp: true,
    features: [...CHECK_FEATURE_NAMES],
  };
  return {
    id,
    live: true,
    checks: 3,
    countedConcurrency: 100,
    capabilities: { ...all, ...capabilities },
    refused: [],
    ...fields,
  };
}

/** By agent id: why the agent does not run the check. */
function problems(of: Subject, ...agents: readonly ShownAgent[]): Record<string, string | null> {
  return Object.fromEntries(explainedAgents(of, agents).map(({ id, problem }) => [id, problem]));
}

describe('the agents of an explained check', () => {
  it('are those that poll, one of which is assigned the check by the ids and the concurrency', () => {
    const before = problems(subject('URL'), agent('a'), agent('b'));
    const [owner = ''] = Object.keys(before).filter((id) => before[id] === null);
    const other = owner === 'a' ? 'b' : 'a';
    expect(before[other]).toBe(
      `agent ${owner} runs it, as the ids of check and agents and JOB_CONCURRENCY determine`,
    );
    const gone = agent(owner, {}, { live: false });
    expect(problems(subject('URL'), gone, agent(other))).toEqual({ [other]: null });
    const large = agent(other, {}, { countedConcurrency: 1e9 });
    expect(problems(subject('URL'), agent(owner), large)[other]).toBeNull();
  });

  it.each<readonly [string, Subject, Partial<ShownAgent['capabilities']>, string]>([
    ['the type', subject('TCP'), { types: ['URL'] }, 'it cannot run TCP checks; upgrade it'],
    [
      'a field of the request',
      subject('TCP', { request: { tls: 'ON' } }),
      { features: [] },
      'it does not know all settings of the check (TCP_TLS); upgrade it',
    ],
    [
      'a field of the group',
      subject('API', {}, { setupScript: 'log(1)' }),
      { features: CHECK_FEATURE_NAMES.filter((name) => name !== 'API_SCRIPTS') },
      'it does not know all settings of the check (API_SCRIPTS); upgrade it',
    ],
    [
      'ICMP sockets',
      subject('ICMP'),
      { icmp: false },
      'it may not open an ICMP socket (see "ICMP without privilege")',
    ],
    [
      'both families',
      subject('URL', { request: { url: 'https://example.com/', ipFamily: 'BOTH' } }),
      { ipv6: false },
      'it has no IPv6, which ipFamily BOTH needs in addition to IPv4',
    ],
  ])('lack %s', (_, of, capabilities, problem) => {
    expect(problems(of, agent('old', capabilities))).toEqual({ old: problem });
    expect(problems(of, agent('old', capabilities), agent('new'))).toEqual({
      old: problem,
      new: null,
    });
  });

  it('without IPv6 are assigned an IPv6 check only if no agent has IPv6', () => {
    const of = subject('URL', { request: { ipFamily: 'IPv6' } });
    const old = agent('old', { ipv6: false });
    expect(problems(of, old)).toEqual({ old: null });
    expect(problems(of, old, agent('new')).old).toBe('it has no IPv6, and agent new has');
  });

  it('do not run a check that cannot be read or is not activated', () => {
    const refusing = agent('a', {}, { refused: [{ checkId: 'shop', problem: 'url is wrong' }] });
    expect(problems(subject('URL'), refusing)).toEqual({ a: 'url is wrong' });
    const paused = problems(subject('URL', {}, { activated: false }), agent('a'));
    expect(paused).toEqual({ a: 'the check is not activated' });
  });
});
