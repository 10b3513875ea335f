import { describe, expect, it } from 'vitest';
import { parseCheckFile } from '../../../../src/agent/source/file/parse-check-file.ts';
import { firstFileText } from '../../../../src/cli/init/file-text.ts';
import { targetOf } from '../../../../src/cli/init/target.ts';

const SETTING =
  /^(\s*)# ((?:assertions|data|retryStrategy|tags|variables|alertChannels):.*| {2}- .*| {4}(?:type|config):.*)$/gm;

function textOf(given: string, email: string | null): string {
  const target = targetOf(given);
  if (target === null) throw new Error(`${given} is no target`);
  const parts = { file: 'checks.yaml', everyMinutes: 5, schema: 'https://v.example/s.json' };
  return firstFileText({ ...parts, target, email });
}

describe('the first check file', () => {
  it.each([
    ['https://shop.example/a?b="c"#d', 'shop.example', { url: 'https://shop.example/a?b="c"#d' }],
    ['http://shop.example/', 'shop.example', { url: 'http://shop.example/' }],
    ['shop.example/health', 'shop.example', { url: 'https://shop.example/health' }],
    ['https://shop.example:443/', 'shop.example', { url: 'https://shop.example:443/' }],
    ['http://127.0.0.1:9700/', '127.0.0.1-9700', { url: 'http://127.0.0.1:9700/' }],
    ['db_1.internal:5432', 'db_1.internal', { hostname: 'db_1.internal', port: 5432 }],
    ['[fd00::1]:22', 'fd00-1', { hostname: 'fd00::1', port: 22 }],
    ['10.0.0.1', '10.0.0.1', { hostname: '10.0.0.1' }],
    ['::1', '1', { hostname: '::1' }],
  ])(
    'is valid for %s, and its comments are settings that are valid, too',
    async (given, id, request) => {
      for (const email of ['ann@shop.example', null]) {
        const text = textOf(given, email);
        expect(text).toMatch(/^# yaml-language-server: \$schema=https:\/\/v\.example\/s\.json\n/);
        const { checks, resources } = await parseCheckFile(text, 'checks.yaml');
        expect(checks).toMatchObject([{ id, frequency: 5, request }]);
        expect(resources.sections.alertChannels).toHaveLength(email === null ? 0 : 1);

        const uncommented = text.replaceAll(SETTING, '$1$2');
        expect(uncommented.match(/^\s*#/gm)?.length).toBeLessThan(
          text.match(/^\s*#/gm)?.length ?? 0,
        );
        const whole = await parseCheckFile(uncommented, 'checks.yaml');
        expect(whole.variables).toHaveLength(1);
        expect(whole.resources.sections.alertChannels).toHaveLength(1);
        expect(whole.checks[0]?.tags).toEqual(['web']);
        expect(whole.checks[0]?.request.assertions.length).toBeGreaterThan(0);
      }
    },
  );

  it('has the port of a URL in its name', () => {
    expect(textOf('http://127.0.0.1:9700/', null)).toContain('\n    name: "127.0.0.1:9700"\n');
  });

  it.each([
    ...['', 'a b', '/a', 'a:b:c'],
    ...['ftp://shop.example/', 'https://', 'shop.example:0', 'shop.example:70000'],
  ])('cannot be made for %j', (given) => {
    expect(targetOf(given)).toBeNull();
  });
});
