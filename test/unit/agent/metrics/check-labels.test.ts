import { describe, expect, it } from 'vitest';
import {
  type GaugedCheck,
  labelChecks,
  targetOfRequest,
} from '../../../../src/agent/metrics/check-labels.ts';

function checkWith(tags: readonly string[], url = 'https://example.com/'): GaugedCheck {
  const request = { url } as never;
  return { id: 'a', name: 'A', checkType: 'URL', tags: [...tags], request };
}

function tagsOf(checks: readonly GaugedCheck[], chosen: readonly string[]) {
  const { labelled, leftOut } = labelChecks(checks, chosen);
  return { tags: labelled.map(({ tags }) => tags), leftOut: leftOut.tags };
}

describe('the target in labels', () => {
  it.each([
    [
      'https://user:secret@example.com:8443/a/b?token=secret#secret',
      'https://example.com:8443/a/b',
    ],
    ['https://token@example.com', 'https://example.com'],
    ['{{BASE}}/users/@me', '{{BASE}}/users/@me'],
    ['{{SCHEME}}://{{USER}}:{{PASSWORD}}@example.com/', '{{SCHEME}}://example.com/'],
  ])('has nothing of the URL %s that may be secret', (url, shown) => {
    expect(targetOfRequest({ url } as never)).toBe(shown);
  });

  it.each([
    [{ hostname: 'db.example', port: 5432 }, 'db.example:5432'],
    [{ hostname: '2001:db8::1', port: 22 }, '[2001:db8::1]:22'],
    [{ hostname: 'example.com', pingCount: 3 }, 'example.com'],
    [{ query: 'example.com', recordType: 'MX', nameServer: null, port: 53 }, 'example.com MX'],
    [
      { query: 'example.com', recordType: 'A', nameServer: '192.0.2.1', port: 53 },
      'example.com A @192.0.2.1',
    ],
  ])('names what %o checks', (request, shown) => {
    expect(targetOfRequest(request as never)).toBe(shown);
  });

  it('is cut, and counted', () => {
    const long = `https://example.com/${'a'.repeat(300)}`;
    const { labelled, leftOut } = labelChecks([checkWith([], long), checkWith([])], []);
    expect(labelled[0]?.target).toHaveLength(200);
    expect(labelled[0]?.target).toMatch(/a…$/);
    expect(leftOut).toEqual({ target: 1, tags: 0 });
  });
});

describe('the tags in labels', () => {
  it('are those that are chosen, and none by default', () => {
    const checks = [checkWith(['team:shop', 'b', 'a', 'a']), checkWith([])];
    expect(tagsOf(checks, [])).toEqual({ tags: ['', ''], leftOut: 0 });
    expect(tagsOf(checks, ['a', 'team:*'])).toEqual({ tags: [',a,team:shop,', ''], leftOut: 0 });
    expect(tagsOf(checks, ['*']).tags).toEqual([',a,b,team:shop,', '']);
  });

  it('are bounded in number and length, and the others are counted', () => {
    const many = Array.from({ length: 12 }, (_, n) => `tag-${n}`);
    expect(tagsOf([checkWith(many)], ['*']).leftOut).toBe(2);
    expect(tagsOf([checkWith(['a,b', 'c'.repeat(101), 'd'])], ['*'])).toEqual({
      tags: [',d,'],
      leftOut: 2,
    });
    const different = Array.from({ length: 501 }, (_, n) => checkWith([`tag-${n}`]));
    const { tags, leftOut } = tagsOf([...different, checkWith(['tag-0'])], ['*']);
    expect(leftOut).toBe(1);
    expect(tags.slice(-2)).toEqual(['', ',tag-0,']);
  });
});
