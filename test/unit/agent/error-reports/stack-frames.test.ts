import { describe, expect, it } from 'vitest';
import { framesIn, slashed } from '../../../../src/agent/error-reports/stack-frames.ts';

const ROOT = '/opt/vedette/';

/** `function file:line:column` of each frame. */
function told(stack: string, message = 'it broke', root = ROOT): string[] {
  return framesIn(stack, message, root).map(
    ({ function: name, file, line, column }) => `${name} ${file}:${line}:${column}`,
  );
}

function stackOf(...lines: readonly string[]): string {
  return ['Error: it broke', ...lines.map((line) => `    at ${line}`)].join('\n');
}

describe('frames', () => {
  it('of a stack of Node 20', () => {
    const stack = `TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string. Received undefined
    at Object.openSync (node:fs:571:10)
    at new Spool (file:///opt/vedette/dist/agent/spool/disk-spool.js:40:12)
    at async Promise.all (index 0)
    at async file:///opt/vedette/dist/cli/main.js:11:18
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)
    at async ModuleLoader.import (node:internal/modules/esm/loader:606:24)
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:117:5)`;
    const message = 'The "path" argument must be of type string. Received undefined';
    expect(told(stack, message)).toEqual([
      'Object.openSync node:fs:571:10',
      'new Spool dist/agent/spool/disk-spool.js:40:12',
      'null dist/cli/main.js:11:18',
      'ModuleJob.run node:internal/modules/esm/module_job:325:25',
      'async ModuleLoader.import node:internal/modules/esm/loader:606:24',
      'async asyncRunEntryPointWithESMLoader node:internal/modules/run_main:117:5',
    ]);
  });

  it('of a stack of Node 24', () => {
    const stack = `Error: it broke
    at Array.map (<anonymous>)
    at get status [as status] (file:///opt/vedette/dist/agent/daemon.js:101:9)
    at Daemon.#drain (file:///opt/vedette/dist/agent/daemon.js:200:11)
    at Socket.<anonymous> (/opt/vedette/node_modules/undici/lib/core/util.js:1:2)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async node:internal/modules/esm/loader:639:26`;
    expect(told(stack)).toEqual([
      'get status [as status] dist/agent/daemon.js:101:9',
      'Daemon.#drain dist/agent/daemon.js:200:11',
      'Socket.<anonymous> node_modules/undici/lib/core/util.js:1:2',
      'process.processTicksAndRejections node:internal/process/task_queues:105:5',
      'null node:internal/modules/esm/loader:639:26',
    ]);
  });

  it('of dependencies, nested ones and those installed for others too', () => {
    const root = '/srv/app/node_modules/vedette/';
    const frames = stackOf(
      'a (/srv/app/node_modules/vedette/node_modules/undici/node_modules/@x/y+z/i.js:1:1)',
      'b (/srv/app/node_modules/undici/index.js:2:2)',
      'c (/srv/app/node_modules/.pnpm/undici@7.1.0/node_modules/undici/index.js:3:3)',
      'd (/srv/other/node_modules/undici/index.js:4:4)',
      'e (/srv/app/customers/list.js:5:5)',
    );
    expect(told(frames, 'it broke', root)).toEqual([
      'a node_modules/undici/node_modules/@x/y+z/i.js:1:1',
      'b node_modules/undici/index.js:2:2',
      'c node_modules/.pnpm/undici@7.1.0/node_modules/undici/index.js:3:3',
    ]);
  });

  it('of a folder with spaces and more in its name', () => {
    const root = '/home/Jo (work)/ü/vedette/';
    const frames = stackOf(
      'a (file:///home/Jo%20(work)/%C3%BC/vedette/dist/a.js:1:1)',
      'b (/home/Jo (work)/ü/vedette/node_modules/b/b.js:2:2)',
      'file:///home/Jo%20(work)/%C3%BC/vedette/src/c.ts?v=2:3:3',
      'd (file:///home/%E0%A4%A/vedette/dist/d.js:4:4)',
    );
    expect(told(frames, 'it broke', root)).toEqual([
      'a dist/a.js:1:1',
      'b node_modules/b/b.js:2:2',
      'null src/c.ts:3:3',
    ]);
  });

  it('of Windows', () => {
    const root = slashed('file:///C:/Program%20Files/vedette/') ?? '';
    const frames = stackOf(
      'a (file:///C:/Program%20Files/vedette/dist/agent/a.js:1:1)',
      'b (C:\\Program Files\\vedette\\node_modules\\b\\b.js:2:2)',
      'c (C:\\Users\\jo\\c.js:3:3)',
    );
    expect(told(frames, 'it broke', root)).toEqual([
      'a dist/agent/a.js:1:1',
      'b node_modules/b/b.js:2:2',
    ]);
  });

  it.each([
    ['evaluated code', 'eval (eval at run (file:///opt/vedette/dist/a.js:1:1), <anonymous>:1:7)'],
    ['a file of somebody else', 'run (/home/jo/secret/plan.js:1:1)'],
    ['another folder of the package', 'run (/opt/vedette/config/shop.js:1:1)'],
    ['a way out of the package', 'run (/opt/vedette/dist/../config/shop.js:1:1)'],
    ['a file next to the package', 'run (/opt/vedette-data/dist/a.js:1:1)'],
    ['no place', 'run (file:///opt/vedette/dist/a.js)'],
    ['WebAssembly', 'wasm://wasm/0011aa:wasm-function[12]:0x5a'],
    ['code from the network', 'run (https://shop.example.com/dist/a.js:1:1)'],
    ['a name with a space', 'run (/opt/vedette/dist/a b.js:1:1)'],
    ['a longer name than there is room for', `run (/opt/vedette/dist/${'a'.repeat(201)}.js:1:1)`],
  ])('are not of %s', (_what, line) => {
    expect(told(stackOf(line, 'ok (/opt/vedette/dist/ok.js:1:1)'))).toEqual(['ok dist/ok.js:1:1']);
  });

  it('include no lines of the message', () => {
    const message = 'got\n    at host.example.com (/opt/vedette/dist/a.js:1:1)';
    const stack = `Error: ${message}\n    at run (/opt/vedette/dist/b.js:2:2)`;
    expect(told(stack, message)).toEqual(['run dist/b.js:2:2']);
  });

  it('exclude those of Node if the message was changed, which may contain anything', () => {
    const stack = stackOf('a (node:fs:1:1)', 'b (/opt/vedette/dist/b.js:2:2)');
    expect(told(stack, 'another')).toEqual(['b dist/b.js:2:2']);
  });

  it.each([
    ['no message', '', 'Error\n    at a (node:fs:1:1)'],
    ['a code and no message', '', 'Error [ERR_X]\n    at a (node:fs:1:1)'],
    ['no name', 'it broke', 'it broke\n    at a (node:fs:1:1)'],
    ['a colon in the name', 'b: c', 'a: b: c: b: c\n    at a (node:fs:1:1)'],
  ])('follow a header with %s', (_what, message, stack) => {
    expect(told(stack, message)).toEqual(['a node:fs:1:1']);
  });

  it('are 50 at most, and the innermost ones', () => {
    const lines = Array.from({ length: 80 }, (_, n) => `a (node:fs:${n}:1)`);
    const frames = told(stackOf(...lines));
    expect(frames).toHaveLength(50);
    expect(frames[0]).toBe('a node:fs:0:1');
  });
});

describe('a stack of a megabyte', () => {
  const MEGABYTE = 1024 * 1024;
  const frame = '\n    at a (/opt/vedette/dist/a.js:1:1)';
  it.each([
    ['of one message', 'x'.repeat(MEGABYTE), null],
    ['of a message that nearly begins anywhere', 'a'.repeat(MEGABYTE), `${'a'.repeat(MEGABYTE)}b`],
    ['of colons', ': '.repeat(MEGABYTE / 2), `${': '.repeat(MEGABYTE / 2)}b`],
    ['of lines', '\n'.repeat(MEGABYTE), null],
    ['of lines that begin like frames', '\n    at '.repeat(MEGABYTE / 8), null],
    ['of opening brackets', `\n    at ${' ('.repeat(MEGABYTE / 2)}`, null],
  ])('%s is read quickly', (_what, text, other) => {
    // With quadratic work it takes minutes, and the test times out.
    expect(told(`Error: ${text}${frame}`, other ?? text)).toEqual(['a dist/a.js:1:1']);
  });

  it('of frames is read quickly', () => {
    expect(told(`Error: it broke${frame.repeat(MEGABYTE / frame.length)}`)).toHaveLength(50);
  });
});
