import { describe, expect, it } from 'vitest';
import { parseCheckFile } from '../../../../src/agent/source/file/parse-check-file.ts';
import {
  filledSecrets,
  notComparedNote,
  unfilledNote,
} from '../../../../src/cli/apply/fill-secrets.ts';

const HOOK = {
  name: 'hook',
  url: 'https://a.example/{{PATH}}',
  headers: [{ key: 'X-Routing-Key', value: '{{{ KEY }}}' }],
  template: 'Since {{SINCE}}',
};
const read = (variables: readonly object[] = []) => {
  const alertChannels = [{ id: 'hook', type: 'WEBHOOK', config: HOOK }];
  return parseCheckFile(JSON.stringify({ variables, alertChannels }), 'shop.json');
};
const envOf = (values: Readonly<Record<string, string>>) => ({
  path: 'secrets.env',
  values: Object.entries(values).map(([key, value]) => ({ key, value, secret: true })),
});

describe('secrets from an env file', () => {
  it('are filled in with two braces and three, but not into values and templates', async () => {
    const env = envOf({ PATH: 's3cret-1', KEY: '{{PATH}}' });
    const { checkFile } = filledSecrets('shop.json', await read(), env);
    const { sections } = checkFile.resources;
    expect(sections.alertChannels[0]?.fields.config).toMatchObject({
      url: 'https://a.example/s3cret-1',
      headers: [{ key: 'X-Routing-Key', value: '{{PATH}}' }],
      template: HOOK.template,
    });
  });

  it.each([
    [null, 'shop.json has {{PATH}}, {{KEY}} in alert channels or secret variables: give'],
    [envOf({ PATH: 'a' }), 'secrets.env has no value for KEY, which alert channels or secret'],
  ])('are all needed before anything is written', async (env, message) => {
    const file = await read();
    expect(() => filledSecrets('shop.json', file, env)).toThrow(message);
  });

  it('may be left out for a plan that is not written, which names those that it lacks', async () => {
    const file = await read([{ key: 'A', value: '{{TOKEN}}', secret: true }]);
    const options = { isOptional: true };
    const { checkFile, lacking } = filledSecrets('shop.json', file, null, options);
    expect(checkFile).toBe(file);
    expect(lacking).toEqual(['TOKEN', 'PATH', 'KEY']);
    expect(notComparedNote(lacking)).toBe(
      '{{TOKEN}}, {{PATH}}, {{KEY}} in alert channels or secret variables have no values: they are not compared; give them with --env-file to compare them',
    );
    expect(notComparedNote(['A'])).toMatch(/ has no value: it is not compared; give it with /);
    expect(notComparedNote([])).toBeNull();
    // A file that is named must be complete.
    const partial = () => filledSecrets('shop.json', file, envOf({ PATH: 'a' }), options);
    expect(partial).toThrow('secrets.env has no value for TOKEN, KEY, which');
  });

  it('are not asked for by variables that are not secret', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `{{V${n}}}`).join('');
    const open = unfilledNote(await read([{ key: 'A', value: names }]));
    expect(open).toMatch(/^\{\{PATH\}\}, \{\{KEY\}\} in alert channels/);
    const secret = unfilledNote(await read([{ key: 'A', value: names, secret: true }]));
    expect(secret).toMatch(/\{\{V19\}\} and 7 more in alert channels/);
  });
});
