import { describe, expect, it } from 'vitest';
import { withChannelIds } from '../../../../../src/cli/apply/resources/channel-names.ts';
import { NO_RESOURCES } from '../../../../../src/model/check-file/sections.ts';

const KNOWN = [
  { id: 1, logicalId: null, type: 'EMAIL', config: { address: 'ops@example.com' } },
  { id: 2, logicalId: 'shop/night', type: 'SMS', config: { name: 'On call', number: '+491511' } },
  { id: 3, logicalId: null, type: 'SLACK', config: { url: 'https://hooks.slack.test/x' } },
  { id: 4, logicalId: null, type: 'SLACK', config: { url: 'https://hooks.slack.test/y' } },
];
const OF_FILE = { id: 'pager', fields: { type: 'PAGERDUTY', config: { name: 'Pager' } } };

function namedBy(...names: readonly string[]) {
  const alertChannelSubscriptions = names.map((alertChannelName) => {
    return { alertChannelName, activated: true };
  });
  const { resources, problems } = withChannelIds(
    {
      sections: {
        ...NO_RESOURCES.sections,
        alertChannels: [OF_FILE],
        heartbeats: [{ id: 'backup', fields: { name: 'Backup', alertChannelSubscriptions } }],
      },
      references: new Map([['home', { groupId: 'shop', alertChannelSubscriptions }]]),
    },
    KNOWN,
  );
  const [heartbeat] = resources.sections.heartbeats;
  expect(heartbeat?.fields.name).toBe('Backup');
  expect(resources.references.get('home')).toEqual({
    groupId: 'shop',
    alertChannelSubscriptions: heartbeat?.fields.alertChannelSubscriptions,
  });
  expect(problems.get('home')).toEqual(problems.get('backup'));
  return [heartbeat?.fields.alertChannelSubscriptions, problems.get('home') ?? null];
}

describe('the channels that a file names by their names', () => {
  it('are those of the file, then those of the service by name or logical id', () => {
    expect(namedBy('Pager', 'ops@example.com', 'On call')).toEqual([
      [
        { alertChannelId: 'pager', activated: true },
        { alertChannelId: 1, activated: true },
        { alertChannelId: 2, activated: true },
      ],
      null,
    ]);
    expect(namedBy('pager')).toEqual([[{ alertChannelId: 'pager', activated: true }], null]);
    for (const logicalId of ['shop/night', 'night']) {
      expect(namedBy(logicalId)).toEqual([[{ alertChannelId: 2, activated: true }], null]);
    }
  });

  it('are refused if there is none or several of the name', () => {
    expect(namedBy('On cal', 'hooks.slack.test')).toEqual([
      [],
      [
        'names the alert channel "On cal", which neither the file nor the service has; did you mean "On call"?',
        'names the alert channel "hooks.slack.test", but 2 have this name: write one of 3, 4 as alertChannelId',
      ],
    ]);
  });
});
