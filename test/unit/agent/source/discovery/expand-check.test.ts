import { describe, expect, it } from 'vitest';
import { expandCheck } from '../../../../../src/agent/source/discovery/expand-check.ts';
import { readTargetDocuments } from '../../../../../src/agent/source/discovery/target-document.ts';
import type { Check } from '../../../../../src/model/check/check.ts';
import { CHECK_ID } from '../../../../../src/model/ids.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

function checksOf(check: Check, ...targets: string[]): readonly Check[] {
  return expandedOf(check, ...targets).flatMap((one) => (one.ok ? one.check : []));
}

function expandedOf(check: Check, ...targets: string[]) {
  const labels = { team: 'shop', __meta_zone: 'a', empty: '' };
  return [...expandCheck(check, [{ name: 'a.json', groups: [{ targets, labels }] }])];
}

describe('the checks for discovered targets', () => {
  it('have the target, the labels as tags, and ids and names of their own', () => {
    const base = checkOf('URL', { id: 'shops', name: 'Shop', tags: ['web'], frequency: 1 });
    const [one, two, ...others] = checksOf(base, 'https://a.test/health', 'b.test:8080');
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      name: 'Shop https://a.test/health',
      tags: ['web', 'team:shop'],
      frequency: 1,
      request: { url: 'https://a.test/health' },
    });
    expect(two?.request).toMatchObject({ url: 'http://b.test:8080' });
    for (const each of [one, two]) expect(each?.id).toMatch(CHECK_ID);
    expect(one?.id).not.toBe(two?.id);
    // Its history stays if other targets come and go.
    expect(checksOf(base, 'b.test:8080')[0]?.id).toBe(two?.id);
  });

  it('have the labels in their name that the name of the check refers to', () => {
    const base = checkOf('TCP', { id: 'db', name: 'Database of {{team}}{{none}} at {{target}}' });
    const [one] = checksOf(base, 'db.test:5432');
    expect(one?.name).toBe('Database of shop at db.test:5432');
    expect(one?.request).toMatchObject({ hostname: 'db.test', port: 5432 });
  });

  it('keep the port of a TCP check where the target has none', () => {
    const base = checkOf('TCP', { request: { hostname: 'any.test', port: 5432 } });
    const [one] = checksOf(base, 'db.test');
    expect(one?.request).toMatchObject({ hostname: 'db.test', port: 5432 });
  });

  it('are made once for each target, and not for one that the check cannot have', () => {
    const base = checkOf('ICMP', { id: 'hosts' });
    expect(checksOf(base, 'a.test', 'a.test')).toHaveLength(1);
    const [, refused] = expandedOf(base, 'a.test', 'no host');
    expect(refused).toMatchObject({ ok: false, document: 'a.json', at: '0.targets.1' });
    // A document must not be able to have credentials sent to an address of its choice.
    const auth = { username: 'u', password: 'p' };
    const secret = checkOf('API', { request: { url: 'http://own.test/', basicAuth: auth } });
    expect(checksOf(secret, 'http://other.test/')).toEqual([]);
    expect(checksOf(secret, 'http://own.test/other')).toHaveLength(1);
  });

  it.each([
    'https://u:password@a.test/',
    'u:password@a.test',
    'HTTP:\\\\u@a.test',
    'ht\ttp://u:password@a.test',
  ])('are not made of a target with user or password: %j', (target) => {
    const [one] = expandedOf(checkOf('URL'), target);
    expect(one).toMatchObject({ ok: false, isSecret: true });
    expect(checksOf(checkOf('URL'), 'https://a.test/@b?c=d@e')).toHaveLength(1);
  });

  it('run though the check that is only a module does not', () => {
    const [one] = checksOf(checkOf('URL', { activated: false }), 'a.test');
    expect(one?.activated).toBe(true);
  });

  it('have different ids for checks whose ids begin alike', () => {
    const ids = ['http', 'https'].flatMap((end) => {
      const base = checkOf('URL', { id: `${'x'.repeat(50)}-${end}` });
      return checksOf(base, 'a.test').map(({ id }) => id);
    });
    expect(new Set(ids).size).toBe(2);
  });

  it('have ids of allowed length for long targets', () => {
    const base = checkOf('URL', { id: 'x'.repeat(100) });
    const [one] = checksOf(base, `https://${'long.'.repeat(40)}test/?q=${'y'.repeat(500)}`);
    expect(one?.id).toMatch(CHECK_ID);
    expect(one?.name.length).toBeLessThanOrEqual(255);
  });
});

describe('documents of targets', () => {
  const GROUPS = [{ targets: ['a.test', 'b.test:80'], labels: { team: 'shop', port: '80' } }];

  it('are read as JSON and as YAML', async () => {
    const yaml = '- targets: [a.test, "b.test:80"]\n  labels: { team: shop, port: 80 }\n';
    const read = await readTargetDocuments([
      { language: 'JSON', text: JSON.stringify(GROUPS) },
      { language: 'YAML', text: yaml },
      { language: 'JSON', text: '[{"targets": ["a"]}]' },
      { language: 'YAML', text: '[]' },
    ]);
    expect(read).toEqual([GROUPS, GROUPS, [{ targets: ['a'], labels: {} }], []]);
  });

  it.each([
    ['JSON', '{', /^is not JSON: /],
    ['JSON', '{"targets": []}', /^is not a list of \{targets, labels\}: /],
    ['JSON', '[{"targets": "a"}]', /^is not a list of \{targets, labels\} at 0\.targets: /],
    ['JSON', `[${' '.repeat(3_000_000)}]`, /^has more than \d+ characters/],
    ['JSON', 'null', /^is empty/],
    ['YAML', '', /^is empty/],
    ['YAML', '# Written soon.\n', /^is empty/],
  ] as const)('that are wrong say so: %s', async (language, text, problem) => {
    expect(await readTargetDocuments([{ language, text }])).toEqual([
      expect.stringMatching(problem),
    ]);
  });
});
