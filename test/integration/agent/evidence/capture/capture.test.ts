import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CaptureFilter, Capturer } from '../../../../../src/agent/evidence/capture/capture.ts';
import { openCapturer } from '../../../../../src/agent/evidence/capture/capturer.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';

const FILTER: CaptureFilter = { addresses: ['127.0.0.1'], port: 80, transport: 'tcp' };
const BOUNDS = { limitMs: 10_000, maxBytes: 100_000 };

/** The header of a file, and packets of four bytes. */
const HEADER = String.raw`printf '\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\161\0\0\0'`;
const PACKET = String.raw`printf '\0\0\0\0\0\0\0\0\4\0\0\0\4\0\0\0abcd'`;
/** The test continues once this is printed: do first what it needs. */
const LISTEN = "echo 'tcpdump: listening on any, link-type LINUX_SLL' >&2";
const WAIT = 'exec sleep 60';

interface CaptureFixture {
  readonly folder: string;
  readonly clock: FakeClock;
  /** The program's pid, once it has printed it. */
  pid(): Promise<number>;
}

/**
 * Misbehaving programs in place of tcpdump: `onTrial` runs in the trial, `onCapture` in a capture.
 */
function makeFixture(onTrial: string, onCapture: string): CaptureFixture {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const pidFile = folder.file('pid');
  const text = `#!/bin/sh
case "$*" in
*192.0.2.1*) ${onTrial} ;;
*) echo $$ > ${pidFile}.new && mv ${pidFile}.new ${pidFile}
${onCapture} ;;
esac`;
  writeFileSync(folder.file('tcpdump'), text, { mode: 0o755 });
  return {
    folder: folder.path,
    clock: new FakeClock(),
    async pid() {
      await eventually(() => existsSync(pidFile));
      return Number(readFileSync(pidFile, 'utf8'));
    },
  };
}

function open({ folder, clock }: CaptureFixture): Promise<Capturer> {
  return openCapturer({ clock, log: captureLog().log, folders: [folder] });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('A capturer', () => {
  it('without tcpdump cannot be used, and says so', async () => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const capturer = await open({ ...makeFixture('', ''), folder: folder.path });
    expect(capturer.lack).toMatch(/^tcpdump is not on this machine: install it/);
    const started = await capturer.start(FILTER, {
      ...BOUNDS,
      signal: new AbortController().signal,
    });
    expect(started).toEqual({ ok: false, note: capturer.lack });
  });

  it('whose tcpdump does not start cannot be used, and is not waited for', async () => {
    const hanging = makeFixture(WAIT, '');
    const opened = open(hanging);
    await eventually(() => hanging.clock.pendingTimers > 1);
    await hanging.clock.advance(3000);
    const capturer = await opened;
    expect(capturer.lack).toContain('(tcpdump did not begin within 3 s)');
    expect(hanging.clock.pendingTimers).toBe(0);
  });

  it('whose tcpdump prints much reports a sentence of it', async () => {
    const loud = makeFixture('yes "no such device" | head -c 1000000 >&2; exit 1', '');
    const capturer = await open(loud);
    expect(capturer.lack).toContain('no such device');
    expect(capturer.lack?.length).toBeLessThan(500);
    expect(loud.clock.pendingTimers).toBe(0);
  });

  it('whose tcpdump prints nothing reports how it ended', async () => {
    const capturer = await open(makeFixture('exit 7', ''));
    expect(capturer.lack).toContain('(tcpdump ended by itself (exit code 7))');
  });
});

describe('A capture', () => {
  async function start(fixture: CaptureFixture, signal = new AbortController().signal) {
    const capturer = await open(fixture);
    expect(capturer).toMatchObject({ lack: null });
    const started = await capturer.start(FILTER, { ...BOUNDS, signal });
    if (!started.ok) throw new Error(started.note);
    return started.capture;
  }

  const trial = `${HEADER}\n${LISTEN}\n${WAIT}`;

  it('ends with its packets when none has arrived for a while', async () => {
    const fixture = makeFixture(trial, `${HEADER}\n${PACKET}\n${PACKET}\n${LISTEN}\n${WAIT}`);
    const capture = await start(fixture);
    const stopped = capture.stop();
    await fixture.clock.advance(99);
    expect(isAlive(await fixture.pid())).toBe(true);
    await fixture.clock.advance(401);
    const outcome = await stopped;
    if (!outcome.ok) throw new Error(outcome.note);
    const { bytes, ...counts } = outcome.captured;
    expect(counts).toEqual({ packets: 2, truncated: false, dropped: null });
    expect(bytes.subarray(24).toString('latin1')).toMatch(/abcd.*abcd$/s);
    // It may wait for the service with thousands of others: it must have no spare memory.
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(await capture.stop()).toBe(outcome);
    expect(isAlive(await fixture.pid())).toBe(false);
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('ends with whole packets even if packets never stop', async () => {
    const fixture = makeFixture(trial, `${HEADER}\n${LISTEN}\nwhile :; do ${PACKET}; done`);
    const capture = await start(fixture);
    const stopped = capture.stop();
    await fixture.clock.advance(500);
    const outcome = await stopped;
    if (!outcome.ok) throw new Error(outcome.note);
    const { bytes, packets } = outcome.captured;
    expect(bytes).toHaveLength(24 + packets * 20);
    expect(isAlive(await fixture.pid())).toBe(false);
  });

  it('whose tcpdump ignores SIGINT is killed, and has its packets', async () => {
    const fixture = makeFixture(trial, `trap '' INT\n${HEADER}\n${PACKET}\n${LISTEN}\n${WAIT}`);
    const capture = await start(fixture);
    const stopped = capture.stop();
    await fixture.clock.advance(1000);
    expect(await stopped).toMatchObject({ ok: true, captured: { packets: 1 } });
    expect(isAlive(await fixture.pid())).toBe(false);
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('ends at its time limit without a stop', async () => {
    const fixture = makeFixture(trial, `trap '' INT\n${HEADER}\n${PACKET}\n${LISTEN}\n${WAIT}`);
    const capture = await start(fixture);
    const pid = await fixture.pid();
    await fixture.clock.advance(9999);
    expect(isAlive(pid)).toBe(true);
    await fixture.clock.advance(501);
    await eventually(() => !isAlive(pid));
    expect(await capture.stop()).toMatchObject({ ok: true, captured: { packets: 1 } });
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('whose tcpdump dies reports its last message', async () => {
    const dies = `trap 'kill $!; echo "tcpdump: pcap_loop: the interface is gone" >&2; exit 1' TERM
${HEADER}
sleep 60 > /dev/null 2>&1 &
${LISTEN}
wait`;
    const fixture = makeFixture(trial, dies);
    const capture = await start(fixture);
    const pid = await fixture.pid();
    process.kill(pid, 'SIGTERM');
    await eventually(() => !isAlive(pid));
    const stopped = capture.stop();
    await fixture.clock.advance(500);
    expect(await stopped).toEqual({
      ok: false,
      note: 'tcpdump: pcap_loop: the interface is gone',
    });
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('whose output stays open after its end is not waited for', async () => {
    const fixture = makeFixture(
      trial,
      `${HEADER}\n${PACKET}\nsleep 60 &\necho $! > $0.pid\n${LISTEN}\n${WAIT}`,
    );
    const capture = await start(fixture);
    const pid = await fixture.pid();
    const heir = Number(readFileSync(`${fixture.folder}/tcpdump.pid`, 'utf8'));
    onTestFinished(() => void process.kill(heir));
    const stopped = capture.stop();
    await fixture.clock.advance(500);
    await eventually(() => !isAlive(pid));
    await fixture.clock.advance(1000);
    expect(await stopped).toMatchObject({ ok: true, captured: { packets: 1 } });
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('that is cancelled before its start leaves nothing', async () => {
    const fixture = makeFixture(trial, WAIT);
    const capturer = await open(fixture);
    const controller = new AbortController();
    const started = capturer.start(FILTER, { ...BOUNDS, signal: controller.signal });
    const pid = await fixture.pid();
    controller.abort();
    const calledOff = { ok: false, note: 'tcpdump was ended before it began' };
    expect(await started).toEqual(calledOff);
    expect(isAlive(pid)).toBe(false);
    expect(await capturer.start(FILTER, { ...BOUNDS, signal: controller.signal })).toEqual(
      calledOff,
    );
    expect(fixture.clock.pendingTimers).toBe(0);
  });
});
