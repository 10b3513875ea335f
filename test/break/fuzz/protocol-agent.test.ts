import fc from 'fast-check';
import { it } from 'vitest';
import { runTextCampaign, withLane } from './support/campaign.ts';
import {
  bytesOf,
  changedJson,
  changedTree,
  GZIP_BOMB,
  type WireAnswer,
  wireAnswer,
} from './support/protocol/bytes.ts';
import {
  ANSWER_KINDS,
  ANSWERS,
  type AnswerKind,
  ARTIFACT_UPLOAD,
  corpusMessages,
  ERROR_ANSWER,
  kindOf,
} from './support/protocol/messages.ts';
import { readMessage } from './support/protocol/parsers.ts';
import { PollLane } from './support/protocol/poll-lane.ts';
import { type ResultsCase, UploadLane } from './support/protocol/upload-lane.ts';

const MINUTES = 60_000;
const TIMEOUT_MS = 20 * MINUTES * Math.max(1, Number(process.env.BREAK_FACTOR ?? '1'));

interface Message {
  readonly kind: AnswerKind;
  readonly json: Buffer;
}

const message: fc.Arbitrary<Message> = kindOf<AnswerKind>({
  'poll-answer': 6,
  'results-answer': 3,
  'artifact-answer': 3,
  'completed-answer': 1,
  'release-answer': 1,
  'handover-answer': 1,
  'errors-answer': 1,
  'error-answer': 2,
}).chain((kind) => changedJson(ANSWERS[kind]).map((json) => ({ kind, json })));

it('an agent accepts only valid messages', { timeout: TIMEOUT_MS }, () =>
  runTextCampaign<Message>({
    name: 'messages to the agent',
    cases: 20_000,
    corpus: 'protocol',
    bytesOf: ({ json }) => [json],
    fixed: ANSWER_KINDS.flatMap((kind) => [
      ...ANSWERS[kind].map((value) => ({ kind, json: Buffer.from(JSON.stringify(value)) })),
      ...corpusMessages(kind).map((json) => ({ kind, json })),
    ]),
    arbitrary: message,
    run: ({ kind, json }) => readMessage(kind, json),
    mustSee: ['no JSON', 'refused', 'taken'],
  }),
);

const REPLACED = { ...ERROR_ANSWER, statusCode: 409, attributes: { reason: 'replaced' } };

/**
 * Errors in the service's form contain the status, otherwise the agent attributes them to a proxy.
 */
const errorBody = fc
  .tuple(
    changedTree([ERROR_ANSWER, { ...ERROR_ANSWER, attributes: { reason: 'replaced' } }]),
    fc.boolean(),
  )
  .map(([json, isFalse]) => ({ json, isFalse }));

function answers(kinds: readonly AnswerKind[]): fc.Arbitrary<WireAnswer> {
  const body = fc.oneof(...kinds.map((kind) => changedJson(ANSWERS[kind])));
  return fc
    .tuple(wireAnswer(body), errorBody)
    .map(([answer, { json, isFalse }]) =>
      answer.status < 400 || isFalse
        ? answer
        : { ...answer, body: withStatus(json, answer.status) },
    );
}

function withStatus(json: Buffer, status: number): Buffer {
  return Buffer.from(json.toString('latin1').replaceAll(':400', `:${status}`), 'latin1');
}

const plain = (body: Buffer): WireAnswer => ({
  status: 200,
  headers: [],
  body,
  packing: 'none',
  ending: 'whole',
});
const wireBytes = (answer: WireAnswer): Buffer[] =>
  answer.packing === 'gzip bomb' ? [] : [bytesOf(answer)];

it('an agent polls any service and runs only valid assignments', {
  timeout: TIMEOUT_MS,
}, async () => {
  await withLane(PollLane.open, (lane) =>
    runTextCampaign<WireAnswer>({
      name: 'answers to polls',
      cases: 3_300,
      corpus: 'protocol',
      bytesOf: wireBytes,
      fixed: [...corpusMessages('poll-answer'), ...corpusMessages('error-answer')]
        .map(plain)
        .concat(GZIP_BOMB, { ...plain(Buffer.from(JSON.stringify(REPLACED))), status: 409 }),
      arbitrary: answers(['poll-answer', 'poll-answer', 'results-answer']),
      run: (answer) => lane.run(answer),
      mustSee: ['taken', 'nothing of it', 'replaced'],
    }),
  );
});

it('an agent sends results until the service validly accepts them', {
  timeout: TIMEOUT_MS,
}, async () => {
  const lane = await UploadLane.open();
  await runTextCampaign<ResultsCase>({
    name: 'answers to results',
    cases: 1_200,
    corpus: 'protocol',
    bytesOf: ({ answer }) => wireBytes(answer),
    fixed: corpusMessages('results-answer')
      .map(plain)
      .concat(GZIP_BOMB)
      .map((answer) => ({ records: 2, answer })),
    arbitrary: fc.record({
      records: fc.integer({ min: 1, max: 3 }),
      answer: answers(['results-answer']),
    }),
    run: (input) => lane.results(input),
    mustSee: ['settled', 'sent again'],
  });
});

interface ArtifactCase {
  readonly at: 'begin' | 'part' | 'complete';
  readonly answer: WireAnswer;
}

it('an agent sends artifacts until the service validly accepts them', {
  timeout: TIMEOUT_MS,
}, async () => {
  const body = {
    // Its bytes are not mutated, because an address could become a foreign one.
    begin: changedTree([ARTIFACT_UPLOAD]),
    part: changedJson([{}]),
    complete: changedJson(ANSWERS['completed-answer']),
  };
  const artifactCase = kindOf<ArtifactCase['at']>({ begin: 3, part: 2, complete: 2 }).chain((at) =>
    fc.tuple(wireAnswer(body[at]), errorBody).map(([answer, { json, isFalse }]): ArtifactCase => {
      const isOwn = answer.status >= 400 && !isFalse;
      return { at, answer: isOwn ? { ...answer, body: withStatus(json, answer.status) } : answer };
    }),
  );
  const lane = await UploadLane.open();
  await runTextCampaign<ArtifactCase>({
    name: 'answers to artifacts',
    cases: 600,
    corpus: 'protocol',
    bytesOf: ({ answer }) => wireBytes(answer),
    fixed: [
      ...corpusMessages('artifact-answer').map((json) => ({
        at: 'begin' as const,
        answer: plain(json),
      })),
      ...corpusMessages('completed-answer').map((json) => ({
        at: 'complete' as const,
        answer: plain(json),
      })),
      { at: 'begin', answer: GZIP_BOMB },
    ],
    arbitrary: artifactCase,
    run: ({ at, answer }) => lane.artifact(at, answer),
    mustSee: ['whole', 'settled'],
  });
});
