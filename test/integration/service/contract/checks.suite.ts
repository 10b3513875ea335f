import { describe, expect, it } from 'vitest';
import { URL_MONITOR } from '../../../support/contract/check-tables.ts';
import { edgesOf } from '../../../support/contract/edges.ts';
import { defaultsOf } from '../../../support/contract/field-rules.ts';
import { CHECK_FREQUENCIES } from '../../../support/contract/vocabulary.ts';
import { type ContractFixture, formed, URL_CHECKS } from './contract-fixture.ts';

const REQUEST = { url: 'https://shop.test/' };
const SMALLEST = { name: 'Smallest', request: REQUEST, locations: ['eu-west-1'] };
/** A check in which each field may have its minimum or maximum. */
const AROUND_EDGES = {
  ...SMALLEST,
  privateLocations: ['berlin'],
  degradedResponseTime: 0,
  maxResponseTime: 30_000,
};
/** Their limits depend on each other, and have their own tests. */
const BY_THEMSELVES = new Set(['frequency', 'frequencyOffset']);

const WRITABLE = Object.entries(URL_MONITOR.fields).filter(([, rule]) => !rule.responseOnly);

const WITH_EDGES = WRITABLE.filter(([name, rule]) => {
  const { taken, refused } = edgesOf(rule);
  return taken.length + refused.length > 0 && !BY_THEMSELVES.has(name);
});

function fullCheck({ channels, groupId, serviceId }: ContractFixture) {
  return {
    name: 'Full',
    activated: false,
    muted: true,
    doubleCheck: false,
    shouldFail: true,
    locations: ['eu-west-1', 'us-east-1'],
    tags: ['shop', 'home'],
    alertSettings: {
      escalationType: 'RUN_BASED',
      runBasedEscalation: { failedRunThreshold: 2 },
      reminders: { amount: 1, interval: 10 },
      parallelRunFailureThreshold: { enabled: true, percentage: 50 },
    },
    useGlobalAlertSettings: false,
    groupId,
    groupOrder: 3,
    runtimeId: '2025.04',
    alertChannelSubscriptions: Object.values(channels).map((alertChannelId) => ({
      alertChannelId,
      activated: true,
    })),
    retryStrategy: {
      type: 'FIXED',
      baseBackoffSeconds: 30,
      sameRegion: false,
      maxRetries: 3,
      maxDurationSeconds: 300,
      onlyOn: ['NETWORK_ERROR'],
    },
    triggerIncident: {
      serviceId,
      severity: 'CRITICAL',
      name: 'Shop is down',
      description: 'We are on it.',
      notifySubscribers: true,
    },
    runParallel: true,
    description: 'The home page',
    request: {
      url: 'https://shop.test/home',
      method: 'GET',
      followRedirects: false,
      skipSSL: true,
      ipFamily: 'IPv6',
      assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
    },
    frequency: 5,
    frequencyOffset: 50,
    degradedResponseTime: 1000,
    maxResponseTime: 2000,
    privateLocations: ['berlin'],
  };
}

/** 2.2, 2.3, 4.1, and of part 8 what limits a check. */
export function checksContract(fixture: () => ContractFixture): void {
  describe('URL monitors', () => {
    it('have every writable field as it was written, and those of responses', async () => {
      const { mine, channels } = fixture();
      const fields = fullCheck(fixture());
      expect(new Set(Object.keys(fields))).toEqual(new Set(WRITABLE.map(([name]) => name)));
      const check = formed(URL_MONITOR, await mine.put(`${URL_CHECKS}/full`, fields));
      expect(check).toMatchObject({ ...fields, id: 'full', checkType: 'URL' });
      const { email, webhook, slack, sms } = check.alertChannels;
      expect(Object.keys(channels)).toHaveLength(4);
      expect([email, webhook, slack, sms].map(({ length }) => length)).toEqual([1, 1, 1, 1]);
      const again = formed(URL_MONITOR, await mine.put(`${URL_CHECKS}/full`, { muted: false }));
      expect(again).toMatchObject({ ...fields, muted: false });
      expect(again.updated_at).not.toBeNull();
      formed(URL_MONITOR, await mine.get(`${URL_CHECKS}/full`));
    });

    it('have every default', async () => {
      const reply = await fixture().mine.put(`${URL_CHECKS}/smallest`, SMALLEST);
      expect(formed(URL_MONITOR, reply)).toMatchObject(defaultsOf(URL_MONITOR));
    });

    it('are subscribed to all channels when they are new, unless autoAssignAlerts is false', async () => {
      const { mine, channels } = fixture();
      const subscribed = async (id: string, query: string): Promise<readonly number[]> => {
        const reply = await mine.put(`${URL_CHECKS}/${id}${query}`, SMALLEST);
        const { alertChannelSubscriptions } = formed(URL_MONITOR, reply);
        return alertChannelSubscriptions.map(
          (one: { alertChannelId: number }) => one.alertChannelId,
        );
      };
      const every = Object.values(channels);
      expect(new Set(await subscribed('as-default', ''))).toEqual(new Set(every));
      expect(await subscribed('assigned', '?autoAssignAlerts=true')).toHaveLength(every.length);
      expect(await subscribed('alone', '?autoAssignAlerts=false')).toEqual([]);
      expect((await mine.put(`${URL_CHECKS}/x?autoAssignAlerts=maybe`, SMALLEST)).status).toBe(400);
    });

    it.each(WITH_EDGES)('take %s up to its edges, and nothing past them', async (name, rule) => {
      const { mine } = fixture();
      const { taken, refused } = edgesOf(rule);
      const wrong: string[] = [];
      const put = async (value: unknown, status: number): Promise<void> => {
        const body = { ...AROUND_EDGES, [name]: value };
        const reply = await mine.put(`${URL_CHECKS}/edges`, body);
        const asWritten = JSON.stringify(reply.json?.[name]) === JSON.stringify(value);
        if (reply.status !== status || (status === 200 && !asWritten)) {
          wrong.push(`${JSON.stringify(value).slice(0, 50)}: ${reply.status} ${reply.text}`);
        }
      };
      for (const value of taken) await put(value, 200);
      for (const value of refused) await put(value, 400);
      expect(wrong).toEqual([]);
    });

    it('have exactly the frequencies of the specification', async () => {
      const { mine } = fixture();
      for (const frequency of CHECK_FREQUENCIES.filter((one) => one > 0)) {
        const reply = await mine.put(`${URL_CHECKS}/often`, { ...SMALLEST, frequency });
        expect([reply.status, reply.json.frequency]).toEqual([200, frequency]);
      }
      for (const frequency of [-1, 0.5, 3, 7, 1439, 1441, null, '10']) {
        const { status } = await mine.put(`${URL_CHECKS}/often`, { ...SMALLEST, frequency });
        expect([frequency, status]).toEqual([frequency, 400]);
      }
    });

    it.each(
      CHECK_FREQUENCIES.filter((frequency) => frequency > 0).map(
        (frequency) =>
          [frequency, frequency <= 60 ? frequency * 10 : Math.ceil(frequency / 60)] as const,
      ),
    )('with frequency %i take an offset of 1 to %i', async (frequency, most) => {
      const { mine } = fixture();
      const ask = async (frequencyOffset: number): Promise<unknown[]> => {
        const body = { ...SMALLEST, frequency, frequencyOffset };
        const { status, json } = await mine.put(`${URL_CHECKS}/offset`, body);
        return [status, json.frequencyOffset];
      };
      expect(await ask(1)).toEqual([200, 1]);
      expect(await ask(most)).toEqual([200, most]);
      expect(await ask(most + 1)).toEqual([400, undefined]);
      expect(await ask(0)).toEqual([400, undefined]);
      expect(await ask(1.5)).toEqual([400, undefined]);
    });

    it('leave frequency 0 to API and TCP checks, which run every 10, 20 or 30 seconds', async () => {
      const { mine } = fixture();
      const tcp = { hostname: 'shop.test', port: 443 };
      const statusOf = async (type: string, request: object, frequencyOffset?: number) => {
        const body = { ...SMALLEST, request, frequency: 0, frequencyOffset };
        const { status } = await mine.post(`/v1/checks/${type}`, body);
        return [type, frequencyOffset, status];
      };
      for (const offset of [10, 20, 30]) {
        expect(await statusOf('api', REQUEST, offset)).toEqual(['api', offset, 201]);
        expect(await statusOf('tcp', tcp, offset)).toEqual(['tcp', offset, 201]);
        expect(await statusOf('url', REQUEST, offset)).toEqual(['url', offset, 400]);
      }
      for (const offset of [1, 9, 11, 29, 31, 40]) {
        expect(await statusOf('api', REQUEST, offset)).toEqual(['api', offset, 400]);
      }
    });
  });
}
