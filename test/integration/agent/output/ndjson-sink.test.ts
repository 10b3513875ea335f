import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { LineKind } from '../../../../src/agent/output/line-queue.ts';
import { NdjsonSink } from '../../../../src/agent/output/ndjson-sink.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { resultFor } from '../../../support/samples/results.ts';

const never = new AbortController().signal;

function setUp(maxBufferBytes?: number) {
  const output = new PassThrough({ highWaterMark: 1 });
  const { log, records } = captureLog();
  const dropped: Record<LineKind, number> = { attempt: 0, result: 0, missed: 0 };
  const sink = new NdjsonSink({
    output,
    log,
    onDropped: (kind, count) => {
      dropped[kind] += count;
    },
    ...(maxBufferBytes === undefined ? {} : { maxBufferBytes }),
  });
  return { output, sink, dropped, records };
}

function linesOf(ndjson: string): { id?: string; missed?: object }[] {
  expect(ndjson.endsWith('\n')).toBe(true);
  return ndjson
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('NdjsonSink', () => {
  it('writes a result, and slots that were missed, as one line each', async () => {
    const { output, sink } = setUp();
    const reading = text(output);
    const missed = {
      checkId: 'a-check',
      slot: 1000,
      lastSlot: 3000,
      count: 3,
      reason: 'agent_busy',
    } as const;
    const result = resultFor({ name: 'two\nlines and a \u2028' });
    sink.result(result);
    sink.missed(missed);
    await sink.flush(never);
    output.end();
    expect(linesOf(await reading)).toEqual([result, { missed }]);
  });

  it('keeps order and whole lines when the reader is slow', async () => {
    const { output, sink, dropped } = setUp();
    for (let id = 0; id < 500; id += 1) {
      sink.result(resultFor({ id: String(id), resultType: id % 3 === 0 ? 'ATTEMPT' : 'FINAL' }));
    }
    expect(output.writableLength).toBeLessThan(10_000);
    const reading = text(output);
    await sink.flush(never);
    output.end();
    const ids = linesOf(await reading).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 500 }, (_, id) => String(id)));
    expect(dropped).toEqual({ attempt: 0, result: 0, missed: 0 });
  });

  it('drops attempts first, then the oldest results, counts each and logs that once', async () => {
    const lineBytes = JSON.stringify(resultFor({ id: '00' })).length + 1;
    const { output, sink, dropped, records } = setUp(lineBytes * 4 + 10);
    // Lines that the output has buffered cannot be dropped.
    let taken = 0;
    while (!output.writableNeedDrain) {
      sink.result(resultFor({ id: `t${taken}` }));
      taken += 1;
    }
    const type = { attempt: { resultType: 'ATTEMPT' }, final: {} } as const;
    for (const [id, fields] of [
      ['01', type.final],
      ['02', type.attempt],
      ['03', type.final],
      ['04', type.final],
      ['05', type.final],
      ['06', type.final],
    ] as const) {
      sink.result(resultFor({ id, ...fields }));
    }
    expect(dropped).toEqual({ attempt: 1, result: 1, missed: 0 });
    const reading = text(output);
    await sink.flush(never);
    output.end();
    const ids = linesOf(await reading).map(({ id }) => id);
    expect(ids.slice(taken)).toEqual(['03', '04', '05', '06']);
    expect(records().filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('resolves a flush at once where there is nothing to write', async () => {
    const { sink, output } = setUp();
    await sink.flush(never);
    output.resume();
    sink.result(resultFor());
    await sink.flush(never);
    await sink.flush(never);
  });

  it('ends a flush with its signal, and logs how much was not read', async () => {
    const { sink, records } = setUp();
    for (let id = 0; id < 5; id += 1) sink.result(resultFor());
    const controller = new AbortController();
    const flushed = sink.flush(controller.signal);
    controller.abort();
    await flushed;
    expect(records().at(-1)?.msg).toMatch(
      /^(?:1 line of results was|\d lines of results were) not read in time$/,
    );
  });

  it('counts every line of an output that was closed, and logs that once', async () => {
    const { output, sink, dropped, records } = setUp();
    for (let id = 0; id < 5; id += 1) sink.result(resultFor());
    const flushed = sink.flush(never);
    output.destroy();
    await flushed;
    sink.result(resultFor());
    sink.missed({ checkId: 'a', slot: 0, lastSlot: 0, count: 1, reason: 'agent_busy' });
    await sink.flush(never);
    expect(dropped).toEqual({ attempt: 0, result: 6, missed: 1 });
    expect(records().filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('logs a result that cannot be written, and does not throw', async () => {
    const { output, sink, dropped, records } = setUp();
    output.resume();
    sink.result(resultFor({ attempts: 1n as never }));
    expect(dropped.result).toBe(1);
    expect(records()[0]).toMatchObject({ level: 'error', kind: 'internal' });
    sink.result(resultFor());
    await sink.flush(never);
  });
});

/** A process that writes 2,000 lines of 2 KB to its stdout, and then reports the counts. */
const CHILD = `
  import { NdjsonSink } from './dist/agent/output/ndjson-sink.js';
  import { createLogger } from './dist/runtime/logger.js';
  const log = createLogger({ level: 'info', destination: process.stderr, format: 'json' });
  let dropped = 0;
  const sink = new NdjsonSink({ output: process.stdout, log, onDropped: (_, n) => { dropped += n; } });
  const write = () => {
    for (let id = 0; id < 2000; id += 1) sink.result({ id, pad: 'x'.repeat(2000) });
  };
  process.once('message', () => { write(); process.send('written'); });
  process.once('message', async () => {
    await sink.flush(new AbortController().signal);
    write();
    await sink.flush(new AbortController().signal);
    process.send({ dropped }, () => process.disconnect());
  });
  process.send('ready');
`;

function startChild(): { child: ChildProcess; stdout: Readable; stderr: Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD], {
    cwd: join(import.meta.dirname, '../../../..'),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the child has no pipes');
  return { child, stdout, stderr: text(stderr) };
}

describe('NdjsonSink on the stdout of a process', () => {
  it('neither blocks nor loses or tears a line while nobody reads the pipe', async () => {
    const { child, stdout, stderr } = startChild();
    await once(child, 'message');
    const written = once(child, 'message');
    child.send('go');
    // The answer comes although the pipe, unread, has long been full.
    expect(await written).toContain('written');
    const exited = once(child, 'exit');
    const told = once(child, 'message');
    const lines = linesOf(await text(stdout));
    expect(await told).toContainEqual({ dropped: 0 });
    expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: 4000 }, (_, id) => id % 2000));
    expect(await exited).toEqual([0, null]);
    expect(await stderr).toBe('');
  });

  it('survives a reader that goes away, counts lost lines and logs that once', async () => {
    const { child, stdout, stderr } = startChild();
    await once(child, 'message');
    const exited = once(child, 'exit');
    stdout.destroy();
    await once(stdout, 'close');
    const messages: unknown[] = [];
    child.on('message', (message) => messages.push(message));
    child.send('go');
    expect(await exited).toEqual([0, null]);
    expect(messages).toContainEqual({ dropped: 4000 });
    const logged = (await stderr).trimEnd().split('\n');
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ level: 'error' });
  });
});
