import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { reportsFixture } from '../../../support/agent/reports-fixture.ts';
import { eventually } from '../../../support/eventually.ts';

/** No other text is likely to contain it, in any encoding. */
const MARK = 'zq7x';

/** Secrets of an agent, and texts that it reads. */
const secret = fc
  .tuple(
    fc.constantFrom(
      (mark: string) => `https://user:${mark}@shop.example.com/${mark}?token=${mark}`,
      (mark: string) => `${mark}.internal.example.com`,
      (mark: string) => `Authorization: Bearer ${mark}`,
      (mark: string) => `{"password":"${mark}\\n"}`,
      (mark: string) => `pl_${mark}`,
      (mark: string) => `Check of ${mark}`,
      (mark: string) => `Check${mark}`,
      (mark: string) => mark.toUpperCase(),
      (mark: string) => `${mark.toUpperCase()}_TOKEN`,
      (mark: string) => `$${mark}`,
      (mark: string) => mark,
    ),
    fc.stringMatching(/^[0-9a-f]{0,12}$/),
  )
  .map(([form, more]) => form(`${MARK}${more}`));

const ROOT = new URL('../../../../', import.meta.url).pathname;
const OWN = `${ROOT}src/agent/daemon.ts`;

type Plant = (text: string) => unknown;

/** The ways in which a text can get into an error. */
const PLANTS: Readonly<Record<string, Plant>> = {
  message: (text) => new Error(text),
  'message of ours': (text) => new VedetteError('internal', 'PLANTED', text),
  'message of lines like frames': (text) =>
    new TypeError(`no\n    at ${text} (${OWN}:1:1)\n    at run (${ROOT}dist/${text}.js:1:1)`),
  'message that was changed': (text) =>
    Object.assign(new Error(`no\n    at ${text} (node:fs:1:1)\n    at a (node:${text}:1:1)`), {
      message: 'another',
    }),
  cause: (text) => new Error('no', { cause: new Error(text) }),
  errors: (text) => new AggregateError([new Error(text)], text),
  name: (text) => Object.assign(new Error('no'), { name: text }),
  code: (text) => Object.assign(new Error('no'), { code: text }),
  'code of ours': (text) => new VedetteError('internal', text.toLowerCase(), 'no'),
  fields: (text) => Object.assign(new Error('no'), { [text]: text, errno: text, path: text }),
  class: (text) => {
    const { [text]: Made = Error } = { [text]: class extends Error {} };
    return new Made('no');
  },
  'class that says another name': (text) => {
    class Made extends Error {}
    Object.defineProperty(Made, 'name', { value: text });
    return new Made('no');
  },
  constructor: (text: string) => Object.assign(new Error('no'), { constructor: { name: text } }),
  'function, really': (text) => {
    const named = { [text]: () => new Error('no') };
    return named[text]?.();
  },
  'property that holds a function': (text) => {
    const holder: Record<string, () => Error> = {};
    holder[text] = function run() {
      return new Error('no');
    };
    return holder[text]();
  },
  function: (text) => stacked(`${text} (${OWN}:1:1)`),
  'async function': (text) => stacked(`async ${text}.${text} [as ${text}] (${OWN}:1:1)`),
  'function of a dependency': (text) =>
    stacked(`${text} (${ROOT}node_modules/undici/index.js:1:1)`),
  'function of Node': (text) => stacked(`${text}.${text} (node:fs:1:1)`),
  path: (text) => stacked(`run (/home/${text}/dist/a.js:1:1)`, `/srv/${text}/a.js:1:1`),
  'path in the package': (text) =>
    stacked(`run (${ROOT}dist/${text}.js:1:1)`, `${ROOT}src/${text}/a.ts:1:1`),
  'path of a dependency': (text) =>
    stacked(`run (${ROOT}node_modules/${text}/a.js:1:1)`, `a (/x/node_modules/${text}/b.js:1:1)`),
  'module of Node': (text) => stacked(`run (node:${text}:1:1)`, `node:internal/${text}:1:1`),
  'evaluated code': (text) => stacked(`eval (eval at ${text} (${OWN}:1:1), <anonymous>:1:1)`),
  'file: URL': (text) => stacked(`run (file://${ROOT}dist/a.js?${text}:1:1)`),
  'stack before the frames': (text) => stackOf(`${text}\n\nError: no\n    at a (${OWN}:1:1)`),
  'stack behind the frames': (text) => stackOf(`Error: no\n    at a (${OWN}:1:1)\n${text}`),
  string: (text) => text,
  object: (text) => ({ message: text, name: text, code: text, stack: text }),
};

function stackOf(stack: string): Error {
  return Object.assign(new Error('no'), { stack });
}

function stacked(...frames: readonly string[]): Error {
  return stackOf(`Error: no\n${frames.map((frame) => `    at ${frame}`).join('\n')}`);
}

it('nothing of a URL, host, header, body, variable, key or check name is sent or written', async () => {
  const { service, start, file } = await reportsFixture();
  let sent = 0;
  const plant = fc.record({ text: secret, where: fc.constantFrom(...Object.keys(PLANTS)) });
  const everywhere = fc
    .sample(secret, { numRuns: 3, seed: 1 })
    .flatMap((text) => Object.keys(PLANTS).map((where) => ({ text, where })));
  await fc.assert(
    fc.asyncProperty(fc.array(plant, { minLength: 1, maxLength: 90 }), async (plants) => {
      const { clock, reports, run, due } = start();
      const errors = plants.map(({ text, where }) => PLANTS[where]?.(text));
      for (const error of errors) reports.note(error);
      for (const { text, where } of plants.slice(0, 10)) reports.recordCrash(PLANTS[where]?.(text));
      expect(readFileSync(file, 'utf8').toLowerCase()).not.toContain(MARK);
      run();
      await due();
      await clock.advance(5_000);
      await due();
      await clock.advance(60_000);
      await eventually(() => service.errors.length === sent + 2);
      sent = service.errors.length;
    }),
    { numRuns: 40, examples: [[everywhere]] },
  );
  expect(service.seen).toHaveLength(sent);
  for (const { body, headers, path } of service.seen) {
    const bytes = `${path} ${JSON.stringify(headers)} ${body.toString('latin1')}`;
    expect(bytes.toLowerCase()).not.toContain(MARK);
  }
  // Shows that the test would have noticed a secret.
  expect(JSON.stringify(service.errors)).toContain('src/agent/daemon.ts');
});
