import { describe, expect, it } from 'vitest';
import { planEscalation, writeEscalation } from '../../../../src/cli/apply/escalation-plan.ts';
import { ResourceIds } from '../../../../src/cli/apply/resources/references.ts';

const { signal } = new AbortController();
const ACCOUNT = { id: 'acc' };

/** A service with one account, which has these alert settings. */
function serviceWith(settings: object) {
  const sent: unknown[] = [];
  return {
    sent,
    get: async (path: string): Promise<unknown> => (path === '/v1/accounts' ? [ACCOUNT] : settings),
    send: async (_method: string, _path: string, { body }: { readonly body?: unknown }) => {
      sent.push(body);
      return { ok: true, json: {} } as const;
    },
  };
}

describe('the escalation of a file', () => {
  it('is compared with a stored one that has fields of a later release', async () => {
    const known = { minutes: 15, alertChannelIds: [7], sound: 'loud' };
    const client = serviceWith({ escalationStep: known, escalationType: 'RUN_BASED' });
    const ids = new ResourceIds();
    ids.set('alertChannels', 'ops', 7);
    const step = { minutes: 15, alertChannelIds: ['ops'] };
    expect(await planEscalation(step, ids, client, signal)).toBeNull();
    const later = await planEscalation({ ...step, minutes: 20 }, ids, client, signal);
    expect(later?.changes).toMatchObject([{ path: 'escalationStep.minutes', after: '20' }]);
  });

  it('is not sent where a channel of it was refused', async () => {
    const client = serviceWith({});
    const after = { minutes: 15, alertChannelIds: [7, 'ops'] };
    const change = { accountId: ACCOUNT.id, after, changes: [] };
    const reply = await writeEscalation(change, { client, ids: new ResourceIds(), signal });
    expect(reply).toMatchObject({
      ok: false,
      reasons: ['needs the alert channel "ops", which was not created'],
    });
    expect(client.sent).toEqual([]);
  });
});
