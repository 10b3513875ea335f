import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import {
  confirmed,
  sourcesNow,
  sourcesOf,
} from '../../../../src/agent/error-reports/confirmed-frames.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const SOURCE = `class Spool {
  #open() { return { 'a-b': () => run$it() }; }
}
`;

function place() {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  const path = folder.file('spool.js');
  writeFileSync(path, SOURCE);
  const frame = (name: string | null, line = 2, column = 5) => ({
    function: name,
    file: 'dist/spool.js',
    path,
    line,
    column,
  });
  return { folder, frame };
}

it.each([
  ['Spool.#open', 'Spool.#open'],
  ['async run$it', 'async run$it'],
  ['new Spool', 'new Spool'],
  ['Object.<anonymous>', 'Object.<anonymous>'],
  ['Timeout._onTimeout', 'Timeout._onTimeout'],
  ['run$it [as hunter2]', 'run$it'],
  ['Hunter2.run$it', 'run$it'],
  ['Object.hunter2', null],
  ['hunter2', null],
  ['Spo', null],
  ['run', null],
  ['a-b', null],
  ['return this', null],
  ['', null],
  [null, null],
])('the function %s is reported as %s', async (told, name) => {
  const { frame } = place();
  const frames = [frame(told)];
  const expected = [{ function: name, file: 'dist/spool.js', line: 2, column: 5 }];
  expect(confirmed(frames, await sourcesOf(frames))).toEqual(expected);
  expect(confirmed(frames, sourcesNow(frames))).toEqual(expected);
});

it('a frame with a position outside of its file is left out', async () => {
  const { frame } = place();
  const frames = [frame(null, 1, 14), frame(null, 1, 15), frame(null, 5, 1), frame(null, 0, 0)];
  expect(confirmed(frames, await sourcesOf(frames))).toEqual([
    { function: null, file: 'dist/spool.js', line: 1, column: 14 },
  ]);
});

it('a frame of a missing file, or of a folder, is left out', async () => {
  const { folder, frame } = place();
  const frames = [
    { ...frame('Spool'), path: folder.file('hunter2.js') },
    { ...frame('Spool'), path: folder.path },
  ];
  expect(confirmed(frames, await sourcesOf(frames))).toEqual([]);
  expect(confirmed(frames, sourcesNow(frames))).toEqual([]);
});

it('a frame of a file that is too long is reported without its function', async () => {
  const { folder, frame } = place();
  writeFileSync(folder.file('spool.js'), SOURCE + ' '.repeat(512 * 1024));
  const frames = [frame('Spool', 9, 9)];
  expect(confirmed(frames, await sourcesOf(frames))).toEqual([
    { function: null, file: 'dist/spool.js', line: 9, column: 9 },
  ]);
});

it('a frame of Node is reported without its function, if Node has the module', () => {
  const frame = { function: 'hunter2', path: null, line: 1, column: 2 };
  const files = ['node:fs', 'node:internal/process/task_queues', 'node:internal/hunter2', 'node:x'];
  expect(
    confirmed(
      files.map((file) => ({ ...frame, file })),
      new Map(),
    ),
  ).toEqual([
    { function: null, file: 'node:fs', line: 1, column: 2 },
    { function: null, file: 'node:internal/process/task_queues', line: 1, column: 2 },
  ]);
});
