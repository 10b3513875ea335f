import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { BATCH_BYTES } from '../../../src/agent/upload/batch.ts';
import { apiResult } from '../service/ingest-data.ts';

/** The same results twice: for the spool, and packed into requests as an agent makes them. */
export interface WaitingResults {
  /** A file with one result a line. */
  readonly lines: string;
  /** Files, each with the body of one request. */
  readonly batches: readonly string[];
  /** Size of the results' JSON. */
  readonly bytes: number;
}

export async function makeResults(folder: string, count: number): Promise<WaitingResults> {
  const lines = join(folder, 'results.ndjson');
  const output = createWriteStream(lines);
  const batches: string[] = [];
  let batch: string[] = [];
  let batchBytes = 0;
  let bytes = 0;
  const endBatch = async (): Promise<void> => {
    if (batch.length === 0) return;
    const file = join(folder, `batch-${batches.length}.json.gz`);
    const json = `{"agentId":"agent-1","epoch":1,"results":[${batch.join(',')}],"missed":[]}`;
    await writeFile(file, gzipSync(json, { level: 1 }));
    batches.push(file);
    batch = [];
    batchBytes = 0;
  };
  for (let number = 0; number < count; number += 1) {
    const slotMs = Date.UTC(2026, 0, 1) + Math.floor(number / 500) * 60_000;
    const run = { checkId: `check-${number % 500}`, location: 'here', slotMs, number };
    const line = JSON.stringify(apiResult(run));
    output.write(`${line}\n`);
    if (batchBytes + line.length > BATCH_BYTES) await endBatch();
    batch.push(line);
    batchBytes += line.length + 1;
    bytes += line.length;
  }
  await endBatch();
  output.end();
  await finished(output);
  return { lines, batches, bytes };
}
