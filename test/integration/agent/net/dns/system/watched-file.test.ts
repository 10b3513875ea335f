import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type FileView,
  watchFile,
} from '../../../../../../src/agent/net/dns/system/watched-file.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../../../support/process/temp-folder.ts';

let folder: ReturnType<typeof makeTempFolder>;
let path: string;
let clock: FakeClock;
let view: () => FileView<string>;

beforeEach(() => {
  folder = makeTempFolder();
  path = folder.file('conf');
  clock = new FakeClock();
  view = watchFile(path, { clock, maxBytes: 20 }, (text) => `<${text}>`);
});
afterEach(() => folder.remove());

it('a watched file is read again when it changes, and checked at most once a second', async () => {
  writeFileSync(path, 'one');
  expect(view()).toEqual({ value: '<one>', problem: null });
  writeFileSync(path, 'longer');
  expect(view().value).toBe('<one>');
  await clock.advance(1000);
  expect(view().value).toBe('<longer>');
});

it('an empty file, which may be being written, is checked again at once', () => {
  writeFileSync(path, '');
  expect(view().value).toBe('<>');
  expect(view().value).toBe('<>');
  writeFileSync(path, 'whole');
  expect(view().value).toBe('<whole>');
});

it('a replaced file of the same size is noticed', async () => {
  writeFileSync(path, 'one');
  utimesSync(path, 1000, 1000);
  expect(view().value).toBe('<one>');
  writeFileSync(folder.file('new'), 'two');
  utimesSync(folder.file('new'), 1000, 1000);
  renameSync(folder.file('new'), path);
  await clock.advance(1000);
  expect(view().value).toBe('<two>');
});

it('a missing file counts as empty, and is read when it appears', async () => {
  expect(view()).toEqual({ value: '<>', problem: null });
  writeFileSync(path, 'now');
  await clock.advance(1000);
  expect(view().value).toBe('<now>');
  rmSync(path);
  await clock.advance(1000);
  expect(view().value).toBe('<>');
});

it('a long file is read up to its limit, and reported', () => {
  writeFileSync(path, 'x'.repeat(30));
  expect(view()).toEqual({
    value: `<${'x'.repeat(20)}>`,
    problem: `${path} is longer than 20 bytes; what comes after them is not used`,
  });
});

it('the last content of an unreadable file is used', async () => {
  const inner = folder.file('inner');
  mkdirSync(inner);
  writeFileSync(`${inner}/conf`, 'one');
  const innerView = watchFile(`${inner}/conf`, { clock, maxBytes: 20 }, (text) => text);
  expect(innerView().value).toBe('one');
  rmSync(inner, { recursive: true });
  writeFileSync(inner, 'a file where the folder was');
  await clock.advance(1000);
  expect(innerView()).toEqual({
    value: 'one',
    problem: `${inner}/conf cannot be read (ENOTDIR); its last content is used`,
  });
});

it('a pipe in place of a watched file does not block', () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
  expect(view()).toEqual({ value: '<>', problem: null });
});
