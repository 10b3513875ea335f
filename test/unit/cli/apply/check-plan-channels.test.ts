import { describe, expect, it } from 'vitest';
import { planChanges } from '../../../../src/cli/apply/check-plan.ts';
import { type Check, checkBodySchema } from '../../../../src/model/check/check.ts';

const SUBSCRIBED = [{ alertChannelId: 7, activated: true }];
const OTHER = [{ alertChannelId: 8, activated: false }];

function checkWith(alertChannelSubscriptions: Check['alertChannelSubscriptions']): Check {
  const body = checkBodySchema.parse({
    checkType: 'URL',
    name: 'A check',
    request: { url: 'https://e.test/' },
    alertChannelSubscriptions,
  });
  return { ...body, id: 'home' };
}

/** @param known undefined for a new check; null for one of another release */
function stepsFor(
  file: Check,
  known: Check | null | undefined,
  withoutChannels: ReadonlySet<string> = new Set(),
) {
  const before = known === undefined ? [] : [{ id: 'home', checkType: 'URL', check: known }];
  return planChanges([file], before, {
    fileName: null,
    unlistedActionOf: () => 'keep',
    withoutChannels,
  }).steps;
}

describe('the alert channels of a check of a file', () => {
  it('stay unchanged where the file names none', () => {
    expect(stepsFor(checkWith([]), checkWith(SUBSCRIBED))).toEqual([]);
    const [renamed] = stepsFor({ ...checkWith([]), name: 'B' }, checkWith(SUBSCRIBED));
    expect(renamed).toMatchObject({ kind: 'update', body: { name: 'B' } });
    const [unknown] = stepsFor(checkWith([]), null);
    expect(unknown?.kind === 'update' && unknown.body).not.toHaveProperty(
      'alertChannelSubscriptions',
    );
    expect(stepsFor(checkWith([]), undefined)).toMatchObject([{ leavesChannels: true }]);
  });

  it('are none where the file has an empty list', () => {
    const emptied = new Set(['home']);
    const none = { body: { alertChannelSubscriptions: [] } };
    expect(stepsFor(checkWith([]), checkWith(SUBSCRIBED), emptied)).toMatchObject([
      {
        ...none,
        changes: [
          {
            path: 'alertChannelSubscriptions[0]',
            before: '{"alertChannelId":7,"activated":true}',
            after: '(none)',
          },
        ],
      },
    ]);
    expect(stepsFor(checkWith([]), null, emptied)).toMatchObject([none]);
    expect(stepsFor(checkWith([]), checkWith([]), emptied)).toEqual([]);
    expect(stepsFor(checkWith([]), undefined, emptied)).toMatchObject([{ leavesChannels: false }]);
  });

  it('are those that the file names', () => {
    const [step] = stepsFor(checkWith(OTHER), checkWith(SUBSCRIBED));
    expect(step).toMatchObject({ body: { alertChannelSubscriptions: OTHER } });
  });
});
