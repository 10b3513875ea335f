import { describe, expect, it } from 'vitest';
import { References } from '../../../../src/service/account-export/references.ts';

describe('the escalation of an exported account', () => {
  function escalationTo(alertChannelIds: number[]) {
    const lost: string[] = [];
    const references = new References({
      ids: {
        alertChannels: new Map([
          [1, 'ops'],
          [2, 'refused'],
        ]),
        groups: new Map(),
        statusServices: new Map(),
      },
      alertChannels: [{ id: 'ops' }],
      groups: [],
      noteLostTrigger: () => {},
      noteLostChannel: (id) => lost.push(id),
    });
    return { escalation: references.escalation({ minutes: 15, alertChannelIds }), lost };
  }

  it('names the channels by their ids in the file, and reports those that the file does not have', () => {
    expect(escalationTo([2, 1, 3])).toEqual({
      escalation: { minutes: 15, alertChannelIds: ['ops'] },
      lost: ['refused', '3'],
    });
  });

  it('is left out where the file has none of its channels, as a file with it would be refused', () => {
    expect(escalationTo([2])).toEqual({ escalation: null, lost: ['refused'] });
  });
});
