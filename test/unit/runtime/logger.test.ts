import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { VedetteError } from '../../../src/runtime/errors.ts';
import { createLogger } from '../../../src/runtime/logger.ts';
import { prettyLine } from '../../../src/runtime/pretty-log.ts';
import { createScrubber } from '../../../src/scrub/scrubber.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const START = Date.UTC(2026, 0, 1, 12, 30, 5);

function textOf(stream: PassThrough): string {
  return String(stream.read() ?? '');
}

function localTime(instantMs: number): string {
  return new Date(instantMs).toTimeString().slice(0, 8);
}

describe('the JSON log', () => {
  it('has one object per line with level, time and message, without host and pid', () => {
    const destination = new PassThrough();
    const clock = new FakeClock(START);
    const log = createLogger({ level: 'info', destination, format: 'json', clock });
    log.info({ port: 8081 }, 'listening');
    log.debug('not this');
    expect(JSON.parse(textOf(destination))).toEqual({
      level: 'info',
      time: '2026-01-01T12:30:05.000Z',
      port: 8081,
      msg: 'listening',
    });
  });

  it('contains kind and code of our own errors', () => {
    const destination = new PassThrough();
    const log = createLogger({ level: 'info', destination, format: 'json' });
    log.error({ err: new VedetteError('environment', 'PORT_TAKEN', 'taken') }, 'failed');
    const { err } = JSON.parse(textOf(destination));
    expect(err).toMatchObject({ kind: 'environment', code: 'PORT_TAKEN', message: 'taken' });
  });
});

describe('the log with masked secrets', () => {
  const secrets = ['hunter2-\n"x"', 'info', '2026'];

  it('has one line per record, with level and time whatever the secrets are', () => {
    const destination = new PassThrough();
    const clock = new FakeClock(START);
    const scrub = (line: string): string => createScrubber(secrets).json(line);
    const log = createLogger({ level: 'info', destination, format: 'json', clock, scrub });
    log.info({ url: `http://x/?${secrets[0]}` }, 'it is info');
    log.error({ err: new Error(`no ${secrets[0]}`), [String(secrets[0])]: 1 }, 'of 2026');
    const lines = textOf(destination).split('\n');
    expect(lines.map((line) => (line === '' ? line : JSON.parse(line)))).toMatchObject([
      {
        level: 'info',
        time: '2026-01-01T12:30:05.000Z',
        url: 'http://x/?********',
        msg: 'it is ********',
      },
      { level: 'error', err: { message: 'no ********' }, '********': 1, msg: 'of ********' },
      '',
    ]);
    expect(lines.join()).not.toContain('hunter2');
  });

  it('masks secrets in the pretty form, too', () => {
    const destination = new PassThrough();
    const clock = new FakeClock(START);
    const scrub = (line: string): string => createScrubber(secrets).json(line);
    const log = createLogger({ level: 'info', destination, format: 'pretty', clock, scrub });
    log.warn({ err: new Error(`no ${secrets[0]}`) }, `with ${secrets[0]}`);
    const line = textOf(destination);
    expect(line).toMatch(/^\d\d:30:05 WARN {2}with \*{8} err="no \*{8}" at "[^\n]*"\n$/);
  });
});

describe('the pretty log', () => {
  it('is one readable line, with colours only on request', () => {
    const lines = [false, true].map((colour) => {
      const destination = new PassThrough();
      const clock = new FakeClock(START);
      const log = createLogger({ level: 'info', destination, format: 'pretty', colour, clock });
      log.warn({ check: 'a-check', file: '/etc/my checks.yaml', port: 8081 }, 'it changed');
      return textOf(destination);
    });
    const plain = `${localTime(START)} WARN  it changed check=a-check file="/etc/my checks.yaml" port=8081\n`;
    expect(lines[0]).toBe(plain);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    expect(lines[1]?.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
    expect(lines[1]).not.toBe(plain);
  });

  it('shows an error with its first stack frame', () => {
    const destination = new PassThrough();
    const log = createLogger({ level: 'info', destination, format: 'pretty' });
    log.error({ err: new Error('it broke') }, 'failed');
    expect(textOf(destination)).toMatch(/ERROR failed err="it broke" at ".*logger\.test\.ts.*"\n$/);
  });

  it('lets no value forge a line or control the terminal', () => {
    const record = { level: 'info', msg: 'a\nb\u001b[2J', 'k\rey': '\u009b31m x', list: ['\n'] };
    const line = prettyLine(JSON.stringify(record), false);
    expect(line).toBe(
      '--:--:-- INFO  a\\u000ab\\u001b[2J k\\u000dey="\\u009b31m x" list=["\\n"]\n',
    );
  });

  it('returns text that is no record as it is', () => {
    expect(prettyLine('not JSON\n', false)).toBe('not JSON\n');
    expect(prettyLine('7\n', true)).toBe('7\n');
  });
});

describe('a log whose destination is in trouble', () => {
  it('survives a broken pipe and is silent from then on', async () => {
    const destination = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: 'EPIPE' })),
    });
    const log = createLogger({ level: 'info', destination, format: 'json' });
    const broken = new Promise<void>((resolve) => destination.once('close', resolve));
    log.info('one');
    await broken;
    expect(() => log.info('two')).not.toThrow();
  });

  it('drops lines while nobody reads, and logs their number afterwards', async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: 'info', destination, format: 'json' });
    const big = 'x'.repeat(300_000);
    for (let line = 0; line < 10; line += 1) log.info(big);
    expect(destination.writableLength).toBeLessThan(2_000_000);
    const drained = once(destination, 'drain');
    const reading = text(destination);
    await drained;
    log.info('again');
    destination.end();
    const messages = (await reading)
      .trimEnd()
      .split('\n')
      .map((line) => String(JSON.parse(line).msg));
    const kept = messages.filter((message) => message === big).length;
    expect(kept).toBeLessThan(10);
    expect(messages.slice(kept)).toEqual([
      `${10 - kept} log lines were left out: the log was not read in time`,
      'again',
    ]);
  });
});
