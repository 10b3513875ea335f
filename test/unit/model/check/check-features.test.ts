import { describe, expect, test } from 'vitest';
import { featuresNeededBy } from '../../../../src/model/check/check-features.ts';
import { checkOf } from '../../../support/samples/checks.ts';

describe('the features that a check needs', () => {
  test.each(['URL', 'API', 'TCP', 'DNS', 'ICMP'] as const)(
    'are none with the defaults of %s',
    (checkType) => {
      expect(featuresNeededBy(checkOf(checkType))).toEqual([]);
      // As it was saved before these fields existed.
      expect(featuresNeededBy({ checkType, request: {} })).toEqual([]);
    },
  );

  test.each([
    ['TCP', { tls: 'STARTTLS', startTlsProtocol: 'SMTP' }, ['TCP_TLS']],
    ['TCP', { tls: 'ON', steps: [{ expect: '^220' }] }, ['TCP_TLS', 'TCP_STEPS']],
    ['DNS', { recordType: 'SOA', compareSerials: true }, ['DNS_COMPARE_SERIALS']],
    ['API', { auth: { type: 'DIGEST', username: 'u', password: 'p' } }, ['API_AUTH']],
    ['URL', { ipFamily: 'IPv6' }, []],
    ['URL', { ipFamily: 'ANY' }, ['SEVERAL_FAMILIES']],
    ['ICMP', { ipFamily: 'BOTH' }, ['SEVERAL_FAMILIES']],
    ['URL', { assertions: [{ source: 'STATUS_CODE', regex: '^2' }] }, []],
    ['API', { assertions: [{}, { source: 'TEXT_BODY', regex: '(?i)ok' }] }, ['PATTERN_FLAGS']],
    ['DNS', { assertions: [{ source: 'TEXT_ANSWER', property: '(?im)^a' }] }, ['PATTERN_FLAGS']],
    ['TCP', { steps: [{ expect: '(?i)ready' }] }, ['TCP_STEPS', 'PATTERN_FLAGS']],
    ['URL', { assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }] }, []],
    ['API', { assertions: [{}, { comparison: 'ONE_OF', target: '200, 404' }] }, ['STATUS_LISTS']],
    // A field of another type.
    ['URL', { tls: 'ON' }, []],
  ])('of %s with %j are %j', (checkType, request, features) => {
    expect(featuresNeededBy({ checkType, request })).toEqual(features);
  });

  test('include periods under a minute for types that did not support them before', () => {
    const check = { checkType: 'DNS', request: {}, frequency: 0 };
    expect(featuresNeededBy(check)).toEqual(['SUB_MINUTE_OF_ALL_TYPES']);
    expect(featuresNeededBy({ ...check, frequency: 1 } as typeof check)).toEqual([]);
    expect(featuresNeededBy({ ...check, checkType: 'TCP' })).toEqual([]);
  });

  test('include scripts if an API check or its group has one', () => {
    const check = { checkType: 'API', request: {} };
    expect(featuresNeededBy({ ...check, setupScript: 'a()' } as typeof check)).toEqual([
      'API_SCRIPTS',
    ]);
    expect(featuresNeededBy({ ...check, teardownSnippetId: 3 } as typeof check)).toEqual([
      'API_SCRIPTS',
    ]);
    expect(featuresNeededBy(check, { teardownScript: 'a()' })).toEqual(['API_SCRIPTS']);
    expect(featuresNeededBy(check, { teardownScript: null })).toEqual([]);
    // A check of another type does not run the scripts of its group.
    const url = { checkType: 'URL', request: {} };
    expect(featuresNeededBy(url, { setupScript: 'a()' })).toEqual([]);
  });
});
