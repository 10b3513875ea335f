import { describe, expect, it } from 'vitest';
import {
  etagOf,
  isListed,
  preconditionOf,
} from '../../../../../src/service/http/resources/etag.ts';

const USER = { id: 'a', role: 'read', lastSignInAt: null, last_sign_in_at: null };
const require = (header: 'if-match' | 'if-none-match', etag: string, now: object) =>
  preconditionOf({ headers: { [header]: etag } }, (shown: object) => shown)?.(now);

describe('an ETag', () => {
  it.each([
    ['lastSignInAt', 'last_sign_in_at'],
    ['lastUsedAt', 'last_used_at'],
    ['silentSince', 'silentSince'],
    ['rootCauseAnalyses', 'rootCauseAnalyses'],
  ])('changes with %s for reads, and lets writes through', (field, oldName) => {
    const [before, after] = ['1', '2'].map((value) => ({
      name: 'x',
      [field]: value,
      [oldName]: value,
    })) as [object, object];
    const [first, second] = [etagOf(before), etagOf(after)];
    expect(isListed(first, second)).toBe(false);
    expect(() => require('if-match', first, after)).not.toThrow();
    expect(() => require('if-match', `W/${first}, "other"`, after)).not.toThrow();
    expect(() => require('if-none-match', first, after)).toThrow('excludes');
  });

  it('changes with the content for reads and writes', () => {
    const first = etagOf(USER);
    const changed = { ...USER, role: 'run' };
    expect(first).toMatch(/^"[\w-]{22}\.[\w-]{11}"$/);
    expect(etagOf({ id: 'a', role: 'read' })).toMatch(/^"[\w-]{22}"$/);
    expect(isListed(first, etagOf(changed))).toBe(false);
    expect(() => require('if-match', first, changed)).toThrow('has changed');
    const ofState = `"${first.split('.')[1]}`;
    expect(() => require('if-match', ofState, USER)).toThrow('has changed');
  });
});
