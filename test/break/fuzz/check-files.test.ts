import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { FileProblemsError } from '../../../src/agent/source/common/file-problem.ts';
import { loadCheckFile } from '../../../src/agent/source/file/load-check-file.ts';
import { validateCommand } from '../../../src/cli/validate/validate-command.ts';
import { systemCodeOf } from '../../../src/runtime/errors.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { corpusTexts, runTextCampaign } from './support/campaign.ts';
import { alikeChecks, expectEachAsAlone } from './support/checks/alike.ts';
import { HOSTILE_FILES, HUNGRY_FILES, LARGE_TEXTS, longTexts } from './support/checks/large.ts';
import { expectProblems, expectSameAsYaml, outcomeOf } from './support/checks/outcome.ts';
import { showsMark, TEXTS } from './support/checks/seeds.ts';
import { type CheckText, checkText } from './support/checks/texts.ts';
import { watchingFile } from './support/checks/watch.ts';

const MINUTES = 60_000;
const TIMEOUT_MS = 20 * MINUTES * Math.max(1, Number(process.env.BREAK_FACTOR ?? '1'));
const WORKER = new URL('../../../dist/agent/source/file/check-file-worker.js', import.meta.url);

const common = {
  corpus: 'check-files' as const,
  bytesOf: ({ text }: CheckText) => [Buffer.from(text)],
};

/** The corpus files contain the secret only where a secret belongs. */
const CORPUS: readonly CheckText[] = corpusTexts('check-files').map(({ name, bytes }) => ({
  text: bytes.toString('utf8'),
  extension: name.endsWith('.json.txt') ? 'json' : 'yaml',
  isMarked: true,
}));
const SEEDS: readonly CheckText[] = TEXTS.map((text) => ({
  text,
  extension: 'yaml',
  isMarked: true,
}));

it('any check file is accepted, or refused with position and reason', { timeout: TIMEOUT_MS }, () =>
  runTextCampaign<CheckText>({
    ...common,
    name: 'check files',
    cases: 30_000,
    fixed: [...SEEDS, ...CORPUS, ...LARGE_TEXTS, ...longTexts()],
    arbitrary: checkText,
    run: outcomeOf,
    mustSee: ['valid', 'refused'],
  }),
);

it('a check file in plain JSON is read like one in YAML', { timeout: TIMEOUT_MS }, () =>
  runTextCampaign<CheckText>({
    ...common,
    name: 'check files as JSON',
    cases: 1_000,
    fixed: CORPUS.filter(({ text }) => text.startsWith('{')),
    arbitrary: checkText.filter(({ text }) => text.startsWith('{')),
    run: async (input) => {
      await expectSameAsYaml(input);
      return 'same';
    },
  }),
);

it('similar checks in one file are read like each of them alone', { timeout: TIMEOUT_MS }, () =>
  runTextCampaign<readonly unknown[]>({
    name: 'checks alike',
    cases: 1_000,
    corpus: 'check-files',
    bytesOf: (entries) => [Buffer.from(JSON.stringify({ checks: entries }))],
    fixed: [],
    arbitrary: alikeChecks,
    run: expectEachAsAlone,
    mustSee: ['all valid', 'some refused'],
  }),
);

it('validate reads any file and prints no control characters or secrets', {
  timeout: TIMEOUT_MS,
}, async () => {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  await runTextCampaign<CheckText>({
    ...common,
    name: 'vedette validate',
    cases: 2_000,
    fixed: CORPUS,
    arbitrary: checkText,
    run: async ({ text, extension, isMarked }) => {
      const file = folder.file(`f.${extension}`);
      writeFileSync(file, text);
      const { terminal, stdout } = memoryTerminal();
      const code = await validateCommand([file], terminal);
      const printed = stdout();
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the harmful ones
      expect(printed).toMatch(/^([^\u0000-\u0009\u000b-\u001f\u007f-\u009f]{5,}\n)+$/);
      expect(printed.split('\n').length).toBeLessThan(60);
      if (isMarked) expect(showsMark(printed), printed).toBe(false);
      expect(printed.includes('no problems')).toBe(code === 0);
      return String(code);
    },
    mustSee: ['0', '2'],
  });
});

it('a check file is read the same in a worker thread', { timeout: TIMEOUT_MS }, async () => {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  await runTextCampaign<CheckText>({
    ...common,
    name: 'check files in a thread',
    cases: 40,
    fixed: SEEDS.slice(1, 4),
    arbitrary: fc.oneof(checkText, fc.constantFrom(...SEEDS, ...CORPUS)),
    run: async (input) => {
      const file = folder.file(`f.${input.extension}`);
      writeFileSync(file, input.text);
      const options = { workerUrl: WORKER, maxPlainChars: 0 };
      const [own, here] = await Promise.allSettled([
        loadCheckFile(file, { ...options, maxInlineChars: -1 }),
        loadCheckFile(file, options),
      ]);
      if (own.status === 'rejected' && here.status === 'rejected') {
        if (!(own.reason instanceof FileProblemsError)) throw own.reason;
        expect(own.reason.lines()).toEqual(here.reason.lines());
        expectProblems(own.reason, input);
        return 'refused';
      }
      expect([own.status, here.status]).toEqual(['fulfilled', 'fulfilled']);
      if (own.status !== 'fulfilled' || here.status !== 'fulfilled') throw own;
      expect(own.value.checks).toEqual(here.value.checks);
      expect(own.value.variables).toEqual(here.value.variables);
      return 'valid';
    },
    mustSee: ['valid', 'refused'],
  });
});

it('the previous checks continue while a hostile file of 32 MiB is read', {
  timeout: TIMEOUT_MS,
}, async () => {
  const watched = await watchingFile(WORKER);
  for (const { name, make } of HOSTILE_FILES) {
    const problem = await watched.refuses(make());
    expect(problem, name).toMatch(/checks\.yaml:\d+:\d+: [^\n]{5,500}$/);
    expect(watched.ids(), name).toEqual(['good']);
    await watched.takesAgain();
  }
});

it('the previous checks continue if a file of 32 MiB needs too much memory', {
  timeout: TIMEOUT_MS,
}, async () => {
  const watched = await watchingFile(WORKER);
  // Applies to threads started from now on.
  setFlagsFromString('--max-old-space-size=100');
  onTestFinished(() => setFlagsFromString('--max-old-space-size=0'));
  for (const { name, make } of HUNGRY_FILES) {
    const problem = await watched.refuses(make());
    expect(problem, name).toMatch(
      /checks\.yaml: reading it takes more memory than this process may/,
    );
    const threads = watched.threads();
    expect(threads, name).toBeGreaterThan(0);
    await watched.rests(5 * MINUTES);
    expect(watched.threads(), 'threads that would need as much again').toBe(threads);
    expect(watched.ids(), name).toEqual(['good']);
    await watched.takesAgain();
  }
});

it('a file that cannot be read has a separate error', async () => {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  const file = folder.file('checks.yaml');
  writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0xd8]));
  const thrown: unknown = await loadCheckFile(file).catch((error: unknown) => error);
  expect(systemCodeOf(thrown)).toBe('CHECK_FILE_UNREADABLE');
});
