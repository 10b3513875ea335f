import { expect } from 'vitest';
import { artifactCompletedSchema } from '../../../../../src/wire/v1/artifacts.ts';
import { errorResponseIn } from '../../../../../src/wire/v1/error-response.ts';
import { PATHS } from '../../../../../src/wire/v1/limits.ts';
import { resultsResponseSchema } from '../../../../../src/wire/v1/results.ts';
import { uploadFixture } from '../../../../support/agent/upload-fixture.ts';
import type { WireAnswer } from './bytes.ts';
import { jsonIn } from './poll-lane.ts';
import { sendAnswer } from './server.ts';

/** The time limits of requests: if the next timer is one of these, a request is in flight. */
const REQUEST_LIMITS_MS: readonly number[] = [60_000, 60_000.0625, 120_000];
/** Refusals that are no verdict on the records. */
const NO_VERDICTS: readonly number[] = [401, 403, 408, 425, 426, 429];

/** Whether the answer permanently refuses the records. */
function isRefusal(answer: WireAnswer): boolean {
  const { status } = answer;
  if (status === 413) return true;
  if (status < 400 || status > 499 || NO_VERDICTS.includes(status)) return false;
  return errorResponseIn(status, jsonIn(answer)) !== null;
}

const isGood = ({ status }: WireAnswer): boolean => status >= 200 && status <= 299;

export interface ResultsCase {
  readonly records: number;
  /** Makes the answer when the ids of the records are known. */
  readonly answer: WireAnswer;
}

/** A placeholder in bodies for the ids of the sent records. */
export const ID_MARKS = ['result-1', 'result-2', 'result-3'] as const;

type UploadFixture = Awaited<ReturnType<typeof uploadFixture>>;

/** An agent's uploads, and a service that first answers as the case has it, and then correctly. */
export class UploadLane {
  readonly #fixture: UploadFixture;
  #cases = 0;

  static async open(): Promise<UploadLane> {
    const fixture = await uploadFixture({ dataDir: null });
    void fixture.run();
    const lane = new UploadLane(fixture);
    // Opens the agent's connection, the only one that it may have at the end.
    await fixture.put('first');
    await lane.#emptied();
    return lane;
  }

  private constructor(fixture: UploadFixture) {
    this.#fixture = fixture;
  }

  async results({ records, answer: given }: ResultsCase): Promise<string> {
    const { service, state, rejected } = this.#fixture;
    this.#begin();
    const sequences = Array.from({ length: records }, (_, n) => `case-${this.#cases}-${n}`);
    const before = { taken: service.taken.length, uploaded: state.uploaded };
    let answered: WireAnswer = given;
    const ids = await this.#fixture.put(...sequences);
    this.#script(PATHS.results, () => {
      answered = withIds(given, ids);
      return answered;
    });
    await this.#emptied();
    const taken = service.taken.slice(before.taken);
    const excused = excusedBy(answered, ids);
    for (const id of ids) {
      const times = taken.filter((each) => each === id).length;
      // A record with an answer is not sent again; any other is, until it is accepted.
      if (times === 0 && !excused.has(id)) throw new Error(`${id} is lost`);
      if (times > 1) throw new Error(`${id} was accepted ${times} times`);
    }
    const refused = rejected.splice(0).reduce((sum, [, count]) => sum + count, 0);
    expect(state.uploaded - before.uploaded + refused, 'records counted').toBe(records);
    return excused.size > 0 ? 'settled' : 'sent again';
  }

  /** @param at the index of the upload's request that gets this answer */
  async artifact(at: 'begin' | 'part' | 'complete', answer: WireAnswer): Promise<string> {
    const { service, outbox, rejected, state } = this.#fixture;
    this.#begin();
    service.uploads.clear();
    const resultId = `case-${this.#cases}`;
    const name = 'a.txt';
    const content = Buffer.from(`artifact ${this.#cases} `.repeat(100));
    const uploadedBefore = state.uploaded;
    const paths = {
      begin: PATHS.artifacts,
      part: `${PATHS.artifacts}/${resultId}-${name}/parts/`,
      complete: `${PATHS.artifacts}/${resultId}-${name}/complete`,
    };
    this.#script(paths[at], () => answer);
    const about = { resultId, checkId: 'a-check', name, contentType: 'text/plain' };
    expect(await outbox.add({ ...about, bytes: content })).toMatchObject({ ok: true });
    await this.#emptied();
    const isWhole = service.uploads.get(`${resultId}-${name}`)?.content?.equals(content) === true;
    const refused = rejected.splice(0).length;
    expect(state.uploaded - uploadedBefore + refused, 'artifacts counted').toBe(1);
    expect(outbox.bytes).toBe(0);
    if (isWhole) return 'whole';
    const completed = artifactCompletedSchema.safeParse(jsonIn(answer));
    const isSaidToBe = at === 'complete' && isGood(answer) && completed.data?.complete === true;
    const isRefused = at === 'begin' && isRefusal(answer);
    if (!isSaidToBe && !isRefused) throw new Error('the artifact is lost');
    expect(refused).toBe(isRefused ? 1 : 0);
    return 'settled';
  }

  /** The fixture's records of earlier cases would look like a leak. */
  #begin(): void {
    this.#cases += 1;
    this.#fixture.service.seen.length = 0;
  }

  #script(path: string, answer: () => WireAnswer): void {
    this.#fixture.service.next(path, async (request, response) => {
      request.resume();
      if (!request.readableEnded) await new Promise((resolve) => request.once('end', resolve));
      const said = answer();
      await sendAnswer(response, said);
      // Only to the time limit of this request, because that of the next may follow.
      const { clock } = this.#fixture;
      if (said.ending === 'silence') await clock.advance(clock.nextTimerInMs ?? 0);
    });
  }

  /** Lets the agent work, and advances its clock when it is idle. */
  async #emptied(): Promise<void> {
    const { spool, clock, client } = this.#fixture;
    while (spool.depth.records > 0) {
      const nextMs = clock.nextTimerInMs;
      // A deferred upload may wait as long as a request.
      if (nextMs === null || (client.isAsking && isRequestLimit(nextMs))) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      } else await clock.advance(nextMs);
    }
  }
}

function isRequestLimit(nextMs: number): boolean {
  return REQUEST_LIMITS_MS.some((limitMs) => Math.abs(nextMs - limitMs) < 200);
}

function withIds(answer: WireAnswer, ids: readonly string[]): WireAnswer {
  let text = answer.body.toString('latin1');
  for (const [index, mark] of ID_MARKS.entries()) {
    text = text.replaceAll(`"${mark}"`, JSON.stringify(ids[index] ?? 'of-nobody'));
  }
  return { ...answer, body: Buffer.from(text, 'latin1') };
}

/** The ids of the records that the answer settles, whatever the service has. */
function excusedBy(answer: WireAnswer, ids: readonly string[]): ReadonlySet<string> {
  // A single record is refused permanently; several are then tried one by one, and accepted.
  if (isRefusal(answer)) return new Set(ids.length === 1 ? ids : []);
  const parsed = resultsResponseSchema.safeParse(jsonIn(answer));
  if (!isGood(answer) || !parsed.success) return new Set();
  const rejected = parsed.data.rejected
    .filter(({ list }) => list === 'results')
    .map(({ index }) => ids[index] ?? '');
  return new Set([...parsed.data.accepted, ...rejected].filter((id) => ids.includes(id)));
}
