import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { HTTP_DETAIL } from '../samples/http-results.ts';
import { NOW, resultOfRun } from '../service/results-fixture.ts';
import type { RequestMaker } from './request-maker.ts';

const MINUTE_MS = 60_000;
/** The default start of lists of results. */
const MAX_MINUTES = 300;

/** Results of a URL check; a third of them failed. */
function runOf(fields: { readonly checkId: string; readonly runLocation: string }) {
  const error = fc.constantFrom('refused the connection', 'did not answer within 30 s');
  return fc
    .record({
      minutes: fc.integer({ min: 1, max: MAX_MINUTES }),
      failed: fc.nat({ max: 2 }),
      error,
    })
    .map(({ minutes, failed, error: requestError }): CheckResult => {
      const run = { ...fields, slot: NOW - minutes * MINUTE_MS };
      if (failed > 0) return resultOfRun(run);
      const apiCheckResult = { ...HTTP_DETAIL, response: null, requestError };
      return resultOfRun({ ...run, hasFailures: true, apiCheckResult });
    });
}

/** Results of a check file's run. */
export const fileResults: fc.Arbitrary<readonly CheckResult[]> = fc.array(
  runOf({ checkId: 'of-the-file', runLocation: 'local' }),
  { maxLength: 3 },
);

export interface FuzzAgentParts {
  readonly maker: RequestMaker;
  readonly slug: string;
  /** Assigns every slot of the check to the location. */
  readonly assign: (checkId: string) => Promise<void>;
  /** Sends as an agent of the location and returns the response. @throws Error for a fault */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every form
  readonly send: (method: string, path: string, body: unknown) => Promise<any>;
}

/** Uploads results of existing checks, some with an artifact. */
export async function workAsFuzzAgent(parts: FuzzAgentParts): Promise<void> {
  const { maker, slug, assign, send } = parts;
  const checkIds = maker.known.ids('/v1/checks/url').slice(-5);
  for (const checkId of checkIds) await assign(checkId);
  const results = checkIds.map((checkId) => maker.draw(runOf({ checkId, runLocation: slug })));
  const taken = await send('POST', '/agent/v1/results', {
    agentId: 'fuzz',
    epoch: 1,
    results,
    missed: [],
  });
  const accepted = results.filter(({ id }) => taken.accepted?.includes(id));
  for (const { checkId, id } of accepted)
    maker.known.add('/v1/check-results/{checkId}', [checkId, id]);
  const [result] = accepted;
  if (result === undefined) return;
  const content = Buffer.from('an artifact');
  const begun = await send('POST', '/agent/v1/artifacts', {
    resultId: result.id,
    checkId: result.checkId,
    name: 'a.txt',
    contentType: 'text/plain',
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  for (const { url } of begun.parts ?? []) await send('PUT', url, content);
  await send('POST', `/agent/v1/artifacts/${begun.uploadId}/complete`, {});
}
