import { expect, it } from 'vitest';
import { OneOffs } from '../../../../src/agent/source/one-offs.ts';
import { type OneOffMessage, oneOffMessageOf } from '../../../../src/wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../../../src/wire/v1/limits.ts';
import { checkOf } from '../../../support/checks.ts';

const MAX_KNOWN = 10 * MAX_ONE_OFFS;

const RUN = oneOffMessageOf({
  runId: 'run',
  check: checkOf('TCP'),
  reason: 'requested',
  slot: 0,
  sequenceId: 'sequence',
  notBefore: null,
  notAfter: 600_000,
  retriesMade: 0,
  firstStartedAt: null,
});
const run = (n: number): OneOffMessage => ({ ...RUN, runId: `run-${n}` });

it('forgets the oldest run once it knows ten thousand, and passes it on where it is named again', () => {
  const oneOffs = new OneOffs();
  const passedOn = (...numbers: readonly number[]) =>
    oneOffs.take(numbers.map(run)).runs.map(({ runId }) => runId);
  const all = Array.from({ length: MAX_KNOWN }, (_, n) => n);
  expect(passedOn(...all)).toHaveLength(MAX_KNOWN);
  expect(passedOn(...all)).toEqual([]);
  oneOffs.done('run-0');
  oneOffs.done('run-1');
  expect(oneOffs.toTell).toEqual(['run-0', 'run-1']);

  expect(passedOn(MAX_KNOWN)).toEqual([`run-${MAX_KNOWN}`]);
  // The service has taken back what is so old: there is nothing to tell it.
  expect(oneOffs.toTell).toEqual(['run-1']);
  expect(passedOn(1, MAX_KNOWN)).toEqual([]);
  expect(passedOn(0)).toEqual(['run-0']);
});
