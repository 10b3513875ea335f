import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addCheck, addLocations, deliver, httpDetail, runOf, slotAgo } from './check-samples.ts';

const COMMON = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
};

interface Case {
  readonly check: Readonly<Record<string, unknown>> & {
    readonly checkType: 'URL' | 'TCP' | 'DNS' | 'ICMP';
  };
  readonly result: Partial<CheckResult>;
  /** The facts that the page of the run shows. */
  readonly shown: readonly string[];
  readonly command: string;
}

const CASES: readonly Case[] = [
  {
    check: { checkType: 'URL', request: { url: 'https://shop.test/', ipFamily: 'IPv4' } },
    result: {
      responseTime: 210,
      hasFailures: true,
      apiCheckResult: httpDetail(210, {
        response: { redirects: [{ status: 301, url: 'https://www.shop.test/' }] },
        assertions: [
          {
            source: 'HEADERS',
            property: 'x-index',
            comparison: 'EQUALS',
            target: 'products-v1',
            regex: null,
            actual: 'products-v2',
            error: 'expected the header x-index to equal products-v1, but got products-v2',
          },
        ],
      }),
    },
    shown: [
      '301 to https://www.shop.test/',
      'products-v12',
      "C=US, O=Let's Encrypt, CN=R11",
      'set-cookie',
    ],
    command: 'curl -v -4',
  },
  {
    check: { checkType: 'TCP', request: { hostname: 'db.test', port: 5432 } },
    result: {
      responseTime: 14,
      tcpCheckResult: {
        ...COMMON,
        request: { hostname: 'db.test', port: 5432, data: 'ping', ipFamily: 'IPv4' },
        response: { data: 'pong', address: '10.0.0.5', port: 5432, ipFamily: 'IPv4' },
        timings: { lookup: 1, connect: 4, response: 14, end: 14 },
        timingPhases: { dns: 1, connection: 3, data: 10, total: 14 },
        tcp: null,
      },
    },
    shown: ['10.0.0.5, port 5432', 'pong'],
    command: 'nc -vz -w 5 -4 db.test 5432',
  },
  {
    check: {
      checkType: 'DNS',
      request: { query: 'shop.test', recordType: 'A', nameServer: '10.0.0.53' },
    },
    result: {
      responseTime: 3.2,
      dnsCheckResult: {
        ...COMMON,
        request: {
          query: 'shop.test',
          recordType: 'A',
          nameServer: '10.0.0.53',
          port: 53,
          protocol: 'UDP',
        },
        response: {
          responseCode: 'NOERROR',
          answer: {
            Status: 0,
            TC: false,
            RD: true,
            RA: true,
            AD: false,
            CD: false,
            Question: [],
            Answer: [],
          },
          text: 'shop.test. 300 IN A 10.0.0.9',
          nameServer: { host: '10.0.0.53', port: 53, protocol: 'UDP' },
        },
        timings: { end: 3.2 },
        timingPhases: { total: 3.2 },
      },
    },
    shown: ['NOERROR', 'shop.test. 300 IN A 10.0.0.9', '10.0.0.53, port 53, UDP'],
    command: 'dig @10.0.0.53 shop.test A',
  },
  {
    check: { checkType: 'ICMP', request: { hostname: 'gw.test', pingCount: 2 } },
    result: {
      responseTime: 8,
      hasFailures: true,
      icmpCheckResult: {
        ...COMMON,
        request: { hostname: 'gw.test', pingCount: 2, ipFamily: 'IPv4' },
        response: {
          hostname: 'gw.test',
          resolvedIp: '10.0.0.1',
          ipFamily: 'IPv4',
          pingCount: 2,
          packetsSent: 2,
          packetsReceived: 1,
          packetLoss: 50,
          dnsResolutionTime: 1,
          latency: { avg: 7, min: 7, max: 7, stdDev: 0 },
          pingResults: [
            { sequence: 1, success: true, rtt: 7, ttl: 61 },
            { sequence: 2, success: false, rtt: null, ttl: null },
          ],
        },
        timings: { lookup: 1, end: 8 },
        timingPhases: { dns: 1, total: 8 },
      },
    },
    shown: ['10.0.0.1, IPv4', '1 of 2 came back', 'mtr TARGET'],
    command: 'ping -4 -c 2 gw.test',
  },
];

describe.skipIf(LACKING !== null)('the pages of checks of every type', () => {
  const { service, newAccount, open } = useDashboard();

  it.each(CASES)('show a $check.checkType check, its run and its command', async (one) => {
    const { check, result, shown, command } = one;
    const account = await newAccount();
    const keys = await addLocations(account, service(), ['office']);
    const name = `A ${check.checkType} check`;
    await addCheck(account, service(), 'one', { name, privateLocations: ['office'], ...check });
    const of = { checkId: 'one', name, checkType: check.checkType, location: 'office' } as const;
    const run = runOf({ ...of, slotMs: slotAgo(2) }, result);
    await deliver(service(), keys.office, [run]);
    const { page, goto, axe, faults } = await open(account);
    await goto('/checks/one');
    await page.getByRole('region', { name: /^Response time|^Latency/ }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: /^Copy as (?!YAML)/ }).click();
    expect(await page.getByRole('dialog').locator('code').first().textContent()).toContain(command);
    await page.keyboard.press('Escape');
    await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click();
    await page.getByRole('region', { name: 'Where the time went' }).waitFor();
    for (const text of shown)
      await expect.poll(() => page.locator('main').textContent()).toContain(text);
    expect(await axe()).toEqual([]);
    expect(faults()).toEqual([]);
  });
});
