import { describe, expect, it } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';

async function checksOf(defaults: string, ...checks: string[]) {
  const text = ['defaults:', defaults, 'checks:', ...checks.map((check) => `  - ${check}`)];
  return (await parseCheckFile(text.join('\n'), 'f.yaml')).checks;
}

async function problemsOf(defaults: string, ...checks: string[]): Promise<string> {
  try {
    await checksOf(defaults, ...checks);
  } catch (thrown) {
    if (thrown instanceof FileProblemsError) return thrown.lines().join('\n');
  }
  throw new Error('the file has no problems');
}

const TCP = '{ id: port, checkType: TCP, request: { hostname: localhost, port: 80 } }';
const URL_CHECK = '{ id: site, checkType: URL, request: { url: "http://localhost" } }';
const ICMP = '{ id: ping, checkType: ICMP, request: { hostname: localhost } }';

describe('the defaults of a check file', () => {
  it('apply to each check, and a field of the check overrides them', async () => {
    const checks = await checksOf(
      '  { frequency: 5, tags: [x] }',
      TCP,
      URL_CHECK.replace('URL,', 'URL, frequency: 1, tags: [],'),
    );
    expect(checks[0]).toMatchObject({ frequency: 5, tags: ['x'] });
    expect(checks[1]).toMatchObject({ frequency: 1, tags: [] });
  });

  it('apply only to check types that have the field', async () => {
    const [tcp, url, icmp] = await checksOf(
      '  { maxResponseTime: 4000, maxPacketLossThreshold: 50, request: { skipSSL: true, pingCount: 3 } }',
      TCP,
      URL_CHECK,
      ICMP,
    );
    expect(tcp).toMatchObject({ maxResponseTime: 4000 });
    expect(tcp).not.toHaveProperty('maxPacketLossThreshold');
    expect(url).toMatchObject({ maxResponseTime: 4000, request: { skipSSL: true } });
    expect(icmp).toMatchObject({ maxPacketLossThreshold: 50, request: { pingCount: 3 } });
    expect(icmp).not.toHaveProperty('maxResponseTime');
  });

  it('merge request and retryStrategy key by key', async () => {
    const [own, under] = await checksOf(
      '  { retryStrategy: { type: FIXED, maxRetries: 5, onlyOn: [NETWORK_ERROR] } }',
      URL_CHECK.replace('URL,', 'URL, retryStrategy: { type: LINEAR },'),
      TCP,
    );
    expect(own?.retryStrategy).toMatchObject({ type: 'LINEAR', maxRetries: 5 });
    // onlyOn is for URL and API checks, so it is no default of a TCP check.
    expect(under?.retryStrategy).toMatchObject({ type: 'FIXED', maxRetries: 5, onlyOn: null });
  });

  it('are switched off by null', async () => {
    const [tcp] = await checksOf(
      '  { retryStrategy: { type: FIXED }, maxResponseTime: 4000 }',
      TCP.replace('TCP,', 'TCP, retryStrategy: null, maxResponseTime: null,'),
    );
    expect(tcp).toMatchObject({ retryStrategy: null, maxResponseTime: null });
  });

  it('replace lists as a whole', async () => {
    const [url] = await checksOf(
      '  { request: { assertions: [{ source: STATUS_CODE, comparison: EQUALS, target: "200" }] } }',
      URL_CHECK.replace('localhost"', 'localhost", assertions: []'),
    );
    expect(url?.request.assertions).toEqual([]);
  });

  it('are reported once, at their position, if they are wrong', async () => {
    const problems = await problemsOf('  frequency: 3', TCP, URL_CHECK, ICMP);
    expect(problems).toMatch(
      /^f\.yaml:2:14: defaults\.frequency of check "port" must be one of .*, not 3$/,
    );
  });

  it('are refused with the nearest name if no check type has the field', async () => {
    const problems = await problemsOf(
      '  { frequencey: 1, id: x, retryStrategy: { typ: FIXED, type: FIXED }, request: { hostnme: a } }',
      TCP,
    );
    expect(problems).toContain('defaults.frequencey is not a known key; did you mean frequency?');
    expect(problems).toContain('defaults.id is not a known key');
    expect(problems).toContain('defaults.retryStrategy.typ is not a known key; did you mean type?');
    expect(problems).toContain(
      'defaults.request.hostnme is not a known key; did you mean hostname?',
    );
  });

  it('must be a mapping', async () => {
    expect(await problemsOf('  [1]', TCP)).toContain('defaults must be a mapping');
  });
});
