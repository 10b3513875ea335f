import { expect, it } from 'vitest';
import { httpRunner } from '../../../../../src/agent/run/check-types/http.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

it('shows no credentials of the url after a fault of the probe', () => {
  const runner = httpRunner<'URL'>({ clientCertificates: () => [], proxyUrl: () => null });
  const check = checkOf('URL', { request: { url: 'https://ann:s3same@example.test/x?a=1#b' } });
  const { detail } = runner.broken(check, { code: 'INTERNAL_ERROR', message: 'broke' });
  const { apiCheckResult } = detail({
    assertions: [],
    jobLog: [],
    jobAssets: [],
    evidence: { pcapDataUrl: null, traceroute: null },
    timing: { uncertaintyMs: 0, clock: 'event-loop' },
  });
  expect(apiCheckResult?.request.url).toBe('https://example.test/x?a=1');
});
