import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpooledRecord, SpoolKind } from '../../../../../src/agent/spool/spool.ts';
import { artifactIdOf } from '../../../../../src/model/ids.ts';
import { recordFor } from '../../../../support/agent/spool.ts';
import type { FaultyDisk } from './disk.ts';
import { artifactBytes, Life } from './life.ts';
import { Died, newStage, type Stage } from './stage.ts';

const DAY_MS = 24 * 3_600_000;
const SACRIFICE = 'sacrifice';

export interface Scene {
  /** The folder of the first process, which finds nothing. */
  readonly dataDir: string;
  readonly disk: FaultyDisk;
  /** The folder and disk of the processes after one that died. */
  readonly afterwards: () => { readonly dataDir: string; readonly disk: FaultyDisk };
}

/**
 * The life of a spool in four processes: it grows, cannot write and is closed; exceeds its limits;
 * finds damage; and is emptied. Makes the same calls each time, until a fault.
 */
export async function playScenario({ dataDir, disk, afterwards }: Scene): Promise<Stage> {
  let stage = newStage(dataDir, disk);
  for (const live of [grow, overflow, meetDamage, empty]) {
    try {
      await live(stage);
    } catch (error) {
      if (!(error instanceof Died)) {
        // Hangs and failed starts have been recorded.
        stage.ledger.problems.push(`after ${live.name}: ${String(error)}`);
        disk.kill();
        return stage;
      }
      stage.ledger.endLife();
      const next = afterwards();
      stage = newStage(next.dataDir, next.disk, stage);
      continue;
    }
    stage = newStage(stage.dataDir, stage.disk, stage);
  }
  return stage;
}

/** This many of a kind, at once. */
function putAll(life: Life, kind: SpoolKind, count: number, bytes: number): void {
  for (let number = 0; number < count; number += 1) {
    const { numbers, clock } = life.stage;
    numbers.last += 1;
    life.put(recordFor(`${kind}-${numbers.last}`, { kind, bytes, atMs: clock.wallMs() }));
  }
}

function about(name: string) {
  return { resultId: 'a-result', checkId: 'a-check', name, contentType: 'text/plain' };
}

async function grow(stage: Stage): Promise<void> {
  const { dataDir, disk, clock } = stage;
  const life = await Life.begin(stage);
  putAll(life, 'result', 1, 100);
  await life.commit();
  putAll(life, 'attempt', 2, 300);
  putAll(life, 'result', 4, 500);
  putAll(life, 'missed', 1, 80);
  await life.commit();
  await life.keep({ ...about('body'), bytes: artifactBytes(9_000) });
  const capture = join(dataDir, '..', 'capture');
  writeFileSync(capture, artifactBytes(5_000));
  await life.keepFile({ ...about('capture'), path: capture });
  await life.commit();

  // The service accepts a part, including the oldest file.
  const first = resultsOf(await life.compare());
  await life.accept(first.filter((_, index) => index !== 3).slice(0, 5));
  for (let round = 0; round < 3; round += 1) {
    putAll(life, 'result', 3, 1_900);
    putAll(life, 'attempt', 1, 1_200);
    const committing = life.commit();
    // Arrives while the others are written.
    putAll(life, 'result', 1, 700);
    await committing;
  }
  await life.commit();
  const more = resultsOf(await life.compare());
  await life.accept(more.slice(0, 8));
  // One is put again after it was accepted, together with a new one.
  for (const { kind, id, atMs, body } of more.slice(6, 8)) life.put({ kind, id, atMs, body });
  await life.accept(more.slice(8, 9));

  // One of the two logs refuses during a write, then both do at its end.
  for (const names of [/^write main\.seg$/, /^datasync .*\.seg$/]) {
    putAll(life, 'result', 2, 900);
    putAll(life, 'attempt', 2, 400);
    disk.refuses = { code: 'EIO', names };
    await clock.advance(25);
    const some = resultsOf(await life.compare());
    await life.accept([...some.slice(0, 1), ...some.slice(-1)]);
    disk.refuses = null;
    await life.commit();
  }
  const [note] = notesOf(await life.compare());
  if (note !== undefined) await life.send(note);
  disk.refuses = { code: 'EIO', names: /^write artifact/ };
  await life.keep({ ...about('refused'), bytes: artifactBytes(100) });
  disk.refuses = null;
  putAll(life, 'result', 1, 100);
  await life.commit();

  // The end comes while one of the logs refuses, and an empty file of it remains.
  disk.refuses = { code: 'EIO', names: /^(datasync|unlink) main\.seg$/ };
  putAll(life, 'missed', 1, 100);
  await clock.advance(25);
  await clock.advance(1_000);
  putAll(life, 'attempt', 1, 100);
  await life.close();
  disk.refuses = null;
}

async function overflow(stage: Stage): Promise<void> {
  const { dataDir, disk, clock } = stage;
  const artifacts = join(dataDir, 'artifacts');
  mkdirSync(artifacts, { recursive: true });
  // Left by a process that ended between two steps.
  writeFileSync(join(artifacts, `${artifactIdOf('a-result', 'unfinished')}.part`), 'x');
  writeFileSync(join(artifacts, artifactIdOf('a-result', 'without-note')), 'x');
  const life = await Life.begin(stage);
  await life.keep({ ...about('second'), bytes: artifactBytes(12_000) });
  await life.keep({ ...about('third'), bytes: artifactBytes(20_000) });
  // Artifacts, attempts and finally results are dropped.
  for (let round = 0; round < 5; round += 1) {
    putAll(life, 'result', 3, 9_000);
    putAll(life, 'attempt', 1, 4_000);
    await life.commit();
  }
  await life.keep({ ...about('fourth'), bytes: artifactBytes(3_000) });
  await life.keep({ ...about('fifth'), bytes: artifactBytes(4_000) });
  await life.commit();

  disk.refuses = { code: 'ENOSPC', names: /^write / };
  putAll(life, 'result', 5, 9_000);
  await clock.advance(25);
  await life.keep({ ...about('sixth'), bytes: artifactBytes(2_000) });
  await clock.advance(1_000);
  disk.refuses = null;
  await life.commit();
  await life.keep({ ...about('seventh'), bytes: artifactBytes(2_500) });
  await life.keep({ ...about('eighth'), bytes: artifactBytes(2_600) });
  await life.commit();
  const [note] = notesOf(await life.compare());
  if (note !== undefined) await life.send(note);

  await clock.advance(8 * DAY_MS);
  putAll(life, 'result', 3, 600);
  putAll(life, 'attempt', 1, 600);
  await life.commit();
  await life.compare();
  await life.close();
}

async function meetDamage(stage: Stage): Promise<void> {
  const folder = join(stage.dataDir, 'spool');
  mkdirSync(folder, { recursive: true });
  stage.isDamaged = true;
  for (let number = 0; number < 5; number += 1) {
    writeFileSync(join(folder, `damaged-main-${`${number}`.padStart(16, '0')}.seg`), 'x');
  }
  const there = new Set(readdirSync(folder));
  if (!there.has(OLDEST('main'))) {
    writeFileSync(join(folder, OLDEST('main')), 'no frame at all');
    writeFileSync(join(folder, OLDEST('main').replace('.seg', '.manifest')), '');
  }
  const isTaken = there.has(OLDEST('spare')) || there.has(`damaged-${OLDEST('spare')}`);
  if (!isTaken) mkdirSync(join(folder, OLDEST('spare')));
  const life = await Life.begin(stage);
  life.put(recordFor(SACRIFICE, { bytes: 800, atMs: stage.clock.wallMs() }));
  putAll(life, 'result', 2, 500);
  await life.commit();
  stage.ledger.spoil('result', SACRIFICE);
  spoilOnDisk(folder);
  await life.compare();
  putAll(life, 'result', 3, 1_500);
  await life.commit();
  await life.accept(resultsOf(await life.compare()));
  await life.commit();
  putAll(life, 'attempt', 2, 200);
  await life.close();
}

const resultsOf = (records: readonly SpooledRecord[]): readonly SpooledRecord[] =>
  records.filter(({ kind }) => kind !== 'artifact-note');
const notesOf = (records: readonly SpooledRecord[]): readonly SpooledRecord[] =>
  records.filter(({ kind }) => kind === 'artifact-note');
const OLDEST = (priority: string): string => `${priority}-${'0'.repeat(16)}.seg`;

function spoilOnDisk(folder: string): void {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    if (!statSync(path).isFile()) continue;
    const contents = readFileSync(path);
    const at = contents.indexOf(`"${SACRIFICE}"`);
    if (at === -1) continue;
    contents[at] = 0;
    writeFileSync(path, contents);
  }
}

/** In any state: the spool accepts, saves, returns and removes records. */
async function empty(stage: Stage): Promise<void> {
  const life = await Life.begin(stage);
  putAll(life, 'result', 2, 300);
  await life.keep({ ...about('last'), bytes: artifactBytes(1_000) });
  await life.commit();
  // Without a write it cannot know that the disk accepts writes again.
  putAll(life, 'result', 1, 300);
  await life.commit();
  if (!stage.disk.isStalled && life.spool.state !== 'durable') {
    stage.ledger.problems.push('it does not come to its senses');
  }
  const all = await life.compare();
  await life.accept(resultsOf(all));
  for (const note of notesOf(all)) await life.send(note);
  await life.commit();
  await life.close();
}
