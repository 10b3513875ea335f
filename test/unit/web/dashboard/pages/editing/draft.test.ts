import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../../../src/web/dashboard/pages/check/model.ts';
import {
  draftOf,
  duplicateOf,
  hidesValues,
  listAt,
  updateOf,
  valueAt,
  withType,
  withValue,
} from '../../../../../../src/web/dashboard/pages/editing/draft.ts';

const STORED = {
  id: 'orders',
  checkType: 'API',
  name: 'Orders',
  activated: true,
  created_at: '2026-11-01',
  updated_at: null,
  alertChannels: { email: [], webhook: [], slack: [], sms: [] },
  logicalId: 'shop/orders',
  degradedResponseTime: 400,
  request: {
    url: 'https://example.com/',
    method: 'GET',
    headers: [{ key: 'authorization', value: '********', locked: false }],
    assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
    ipFamily: 'IPv6',
  },
  variables: [{ key: 'TOKEN', value: null, secret: true }],
} as unknown as Check;

describe('a draft', () => {
  it('gets a value anywhere, and makes what is missing on the way', () => {
    const draft = withValue({ name: 'a' }, 'alertSettings.reminders.amount', 2);
    expect(draft).toEqual({ name: 'a', alertSettings: { reminders: { amount: 2 } } });
    expect(withValue(draft, 'request.headers[1].key', 'b')).toMatchObject({
      request: { headers: [undefined, { key: 'b' }] },
    });
    expect(withValue({ request: 'text', a: 1 }, 'request.url', 'x')).toEqual({
      request: { url: 'x' },
      a: 1,
    });
    expect(withValue({ retryStrategy: null, a: 1 }, 'retryStrategy', undefined)).toEqual({ a: 1 });
  });

  it('does not change what it was made of', () => {
    const before = { request: { headers: [{ key: 'a' }] } };
    withValue(before, 'request.headers[0].key', 'b');
    expect(before).toEqual({ request: { headers: [{ key: 'a' }] } });
  });

  it('is read without faults, whatever is in it', () => {
    expect(valueAt({ request: null }, 'request.url')).toBeUndefined();
    expect(valueAt({ request: 'text' }, 'request.length')).toBeUndefined();
    expect(valueAt({}, 'constructor')).toBeUndefined();
    expect(listAt({ tags: { 0: 'a' } }, 'tags')).toEqual([]);
  });

  it('of a stored check is what can be sent', () => {
    expect(Object.keys(draftOf(STORED))).toEqual([
      'checkType',
      'name',
      'activated',
      'logicalId',
      'degradedResponseTime',
      'request',
      'variables',
    ]);
  });

  it('of a copy is paused, without hidden values, and belongs to no file', () => {
    expect(hidesValues(STORED)).toBe(true);
    expect(duplicateOf(STORED)).toEqual({
      checkType: 'API',
      name: 'Copy of Orders',
      activated: false,
      degradedResponseTime: 400,
      request: {
        ...(STORED.request as object),
        headers: [{ key: 'authorization', value: '', locked: false }],
      },
      variables: [{ key: 'TOKEN', value: '', secret: true }],
    });
  });

  it('of another type keeps what both types have', () => {
    expect(withType(draftOf(STORED), 'TCP')).toEqual({
      checkType: 'TCP',
      name: 'Orders',
      activated: true,
      logicalId: 'shop/orders',
      request: { ipFamily: 'IPv6' },
      variables: STORED.variables,
    });
    expect(valueAt(withType(draftOf(STORED), 'URL'), 'request.url')).toBe('https://example.com/');
  });

  it('sends the defaults of what it leaves out, which an update would keep', () => {
    const stored = { ...draftOf(STORED), retryStrategy: { type: 'FIXED' } };
    const draft = { checkType: 'API', name: 'Orders', request: { url: 'https://example.com/' } };
    expect(updateOf(draft, stored, 'API')).toMatchObject({
      ...draft,
      activated: true,
      degradedResponseTime: 5000,
      privateLocations: null,
      tags: [],
      variables: [],
      frequencyOffset: null,
      triggerIncident: null,
      alertSettings: {},
      retryStrategy: { type: 'SINGLE_RETRY', baseBackoffSeconds: 0, sameRegion: false },
    });
    const without = updateOf({ ...draft, doubleCheck: false }, stored, 'API');
    expect(without.retryStrategy).toBeNull();
    expect(updateOf(draft, draftOf(STORED), 'API')).not.toHaveProperty('retryStrategy');
    expect(updateOf(draft, stored, 'API')).not.toHaveProperty('logicalId');
  });
});
