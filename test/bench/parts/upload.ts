import { createHash, randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchMemory } from '../../support/process/process-memory.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type Driver, startDriver } from '../driver.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { curlUpload } from '../upload/curl.ts';
import { makeResults } from '../upload/waiting-results.ts';

const MEGABYTE = 1_000_000;
const ARTIFACT_BYTES = 150 * 1024 * 1024;
/** The part size of the service. */
const PART_BYTES = 8 * 1024 * 1024;
const SPOOLED_RESULTS = 30_000;
/** An agent makes this many polls in an hour. */
const CALLS = 500;
const RATE = { of: 'ratio', bound: 'at least', number: 0.8 } as const;
const GROWTH = { of: 'value', bound: 'at most', number: 32 } as const;

interface Seen {
  readonly results: number;
  readonly bytes: number;
  readonly digests: readonly string[];
}

/** One kind of upload: how it is prepared, and sent by the agent and by curl. */
interface Kind {
  readonly name: string;
  /** Megabytes sent. */
  readonly megabytes: number;
  readonly records: number;
  /** The command that fills the agent's folder. */
  readonly fill: { readonly fill: string } | { readonly keep: string };
  /** Milliseconds. */
  byCurl(): Promise<number>;
  /** @throws Error if the sink has not received everything */
  check(seen: Seen): void;
}

interface Rounds {
  readonly ours: number[];
  readonly curls: number[];
  readonly growth: number[];
}

/** How quickly an agent uploads its stored results and artifacts, and with how much memory. */
export const uploadPart: Part = {
  name: 'upload',
  method:
    "The agent's uploader, in a separate process with its spool and its artifacts on disk, compared with curl -T. curl sends the same bytes (gzip batches of 1 MiB of results; the artifact in one PUT, where the uploader sends parts) to the same server, which unpacks, parses, hashes and syncs them in the same way for both. Memory is the peak of the resident set of the uploader (VmHWM), less its resident set after about 500 small requests. These make Node compile the code that any request needs: about 30 MB once, however much is uploaded.",
  answer:
    'The uploader reads each result from its spool, packs the results and records on disk which ones the service has confirmed, on the same two cores on which the server unpacks, parses and syncs them; curl sends batches that were packed earlier. The uploader is more than six times as fast as a service takes results in (below), so nothing waits for it.',
  programs: ['curl'],
  async run(context) {
    const folder = makeTempFolder();
    try {
      const sink = await startDriver(
        'upload-sink',
        { folder: folder.path, partBytes: PART_BYTES },
        context.signal,
      );
      try {
        const { origin } = JSON.parse(sink.firstLine) as { readonly origin: string };
        const parts = { sink, origin, folder: folder.path, context };
        const measured: Measured[] = [];
        for (const kind of await kindsOf(parts)) measured.push(...(await measure(kind, parts)));
        return measured;
      } finally {
        await sink.stop();
      }
    } finally {
      folder.remove();
    }
  },
};

interface Parts {
  readonly sink: Driver;
  readonly origin: string;
  readonly folder: string;
  readonly context: PartContext;
}

async function kindsOf({ origin, folder, context }: Parts): Promise<readonly Kind[]> {
  const { short, signal, progress } = context;
  progress('making what is to be uploaded');
  const count = short ? 3_000 : SPOOLED_RESULTS;
  const results = await makeResults(folder, count);
  const batches = results.batches.map((file) => ({ file, url: `${origin}/agent/v1/results` }));
  const packed = ['content-type: application/json', 'content-encoding: gzip'];
  const artifactBytes = short ? ARTIFACT_BYTES / 10 : ARTIFACT_BYTES;
  const artifact = join(folder, 'artifact-to-send');
  const digests = await makeArtifact(artifact, artifactBytes);
  const whole = [{ file: artifact, url: `${origin}/whole` }];
  return [
    {
      name: `${count.toLocaleString('en')} spooled results`,
      megabytes: results.bytes / MEGABYTE,
      records: count,
      fill: { fill: results.lines },
      byCurl: () => curlUpload(batches, { method: 'POST', headers: packed }, signal),
      check(seen) {
        if (seen.results !== count) throw new Error(`${seen.results} of ${count} results came`);
      },
    },
    {
      name: `an artifact of ${artifactBytes / 1024 / 1024} MiB`,
      megabytes: artifactBytes / MEGABYTE,
      records: 1,
      fill: { keep: artifact },
      byCurl: () => curlUpload(whole, { method: 'PUT', headers: [] }, signal),
      check(seen) {
        if (seen.bytes !== artifactBytes) {
          throw new Error(`${seen.bytes} of ${artifactBytes} bytes came`);
        }
        const came = seen.digests.join();
        if (came !== digests.whole && came !== digests.parts.join()) {
          throw new Error('what came is not what was sent');
        }
      },
    },
  ];
}

interface Digests {
  readonly whole: string;
  readonly parts: readonly string[];
}

async function makeArtifact(file: string, bytes: number): Promise<Digests> {
  const whole = createHash('sha256');
  const parts: string[] = [];
  for (let made = 0; made < bytes; made += PART_BYTES) {
    const part = randomBytes(Math.min(PART_BYTES, bytes - made));
    await appendFile(file, part);
    whole.update(part);
    parts.push(createHash('sha256').update(part).digest('hex'));
  }
  return { whole: whole.digest('hex'), parts };
}

async function measure(kind: Kind, parts: Parts): Promise<readonly Measured[]> {
  const { rounds, progress } = parts.context;
  const found: Rounds = { ours: [], curls: [], growth: [] };
  const ours = (): Promise<void> => oursOf(kind, parts, found);
  const curls = (): Promise<void> => curlsOf(kind, parts, found);
  for (let round = 0; round < rounds; round += 1) {
    progress(`upload of ${kind.name}, round ${round + 1}`);
    const inTurn = round % 2 === 0 ? [ours, curls] : [curls, ours];
    for (const one of inTurn) await one();
  }
  const { megabytes, records, name } = kind;
  const perSecond = (amount: number, times: readonly number[]): number[] =>
    times.map((tookMs) => (amount * 1000) / tookMs);
  const rate = (amount: number, unit: string): Measured => ({
    measure: `Upload of ${name}`,
    values: perSecond(amount, found.ours),
    unit,
    beside: { name: 'curl -T', values: perSecond(amount, found.curls) },
    target: RATE,
  });
  return [
    rate(megabytes, 'MB/s'),
    ...(records > 1 ? [rate(records, 'results/s')] : []),
    {
      measure: `Memory growth of the uploader, ${name}`,
      values: found.growth,
      unit: 'MB',
      target: GROWTH,
    },
  ];
}

/** The folder is filled by one process and emptied by another, as after a restart. */
async function oursOf(kind: Kind, { sink, origin, context }: Parts, found: Rounds): Promise<void> {
  const folder = makeTempFolder();
  const options = { dataDir: folder.path, serviceUrl: origin };
  const start = (): Promise<Driver> => startDriver('upload-agent', options, context.signal);
  try {
    const filler = await start();
    try {
      const { records } = await filler.ask<{ readonly records: number }>(kind.fill);
      if (records !== kind.records) throw new Error(`${records} of ${kind.records} are spooled`);
      await filler.ask({ close: true });
    } finally {
      await filler.stop();
    }
    const agent = await start();
    try {
      await agent.ask({ call: CALLS });
      await sink.ask({ seen: true });
      const memory = watchMemory(agent.pid);
      const { tookMs } = await agent.ask<{ readonly tookMs: number }>({ drain: kind.records });
      found.growth.push(memory.peakGrowthBytes() / MEGABYTE);
      found.ours.push(tookMs);
      kind.check(await sink.ask<Seen>({ seen: true }));
    } finally {
      await agent.stop();
    }
  } finally {
    folder.remove();
  }
}

async function curlsOf(kind: Kind, { sink }: Parts, found: Rounds): Promise<void> {
  found.curls.push(await kind.byCurl());
  kind.check(await sink.ask<Seen>({ seen: true }));
}
