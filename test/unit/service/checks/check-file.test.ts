import { describe, expect, it } from 'vitest';
import { parseCheckFile } from '../../../../src/agent/source/file/parse-check-file.ts';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import { RUNNABLE_CHECK_TYPES } from '../../../../src/model/enums.ts';
import { checkFileOf } from '../../../../src/service/checks/check-file.ts';
import { checkOf } from '../../../support/samples/checks.ts';

/** GET /v1/checks/{id}/check-file. */
describe('a check as a check file', () => {
  it.each(RUNNABLE_CHECK_TYPES)('is read as the same %s check', async (type) => {
    const check = checkOf(type, {
      id: 'shop',
      name: 'Shop: "front", 100 %',
      description: 'two\nlines',
      tags: ['on', '1'],
      frequency: 5,
      retryStrategy: { type: 'LINEAR', baseBackoffSeconds: 2, maxRetries: 2 },
    });
    const shown = { ...check, created_at: '2026-01-01', updated_at: null, alertChannels: {} };
    const read = await parseCheckFile(checkFileOf(shown), 'shop.yaml');
    expect(read.checks).toEqual([check]);
  });

  it('leaves out what has its default', () => {
    const { logicalId: _, ...check } = checkOf('URL', { id: 'shop', frequency: 1 });
    expect(checkFileOf(check)).toBe(`checks:
  - id: shop
    checkType: URL
    name: shop
    frequency: 1
    request:
      url: http://127.0.0.1/
`);
  });

  it('keeps assertions, without their defaults', async () => {
    const assertions = [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '201' }];
    const check = checkOf('API', { id: 'shop', request: { method: 'POST', assertions } });
    const text = checkFileOf(check);
    expect(text).not.toContain('regex');
    expect((await parseCheckFile(text, 'shop.yaml')).checks).toEqual([check]);
  });

  it('marks hidden values, and is refused until they are filled in', async () => {
    const check = checkOf('API', {
      request: { headers: [{ key: 'authorization', value: MASK }] },
      variables: [{ key: 'TOKEN', value: 'x', secret: true }],
    });
    const shown = { ...check, variables: [{ key: 'TOKEN', value: null, secret: true }] };
    const text = checkFileOf(shown);
    expect(text.match(/# hidden by the API/g)).toHaveLength(2);
    const failure = await parseCheckFile(text, 'a.yaml').catch((error: Error) => error.message);
    expect(failure).toContain('checks[0].variables[0].value');
    expect(failure).toContain('1 more problem');
  });
});
