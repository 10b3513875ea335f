import { describe, expect, it } from 'vitest';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { problemsOf } from '../../../../support/samples/check-file-problems.ts';

const CHECKS = `checks:
  - { id: home, checkType: URL, request: { url: "https://e.test/" } }
`;
const RHYTHM = '{ period: 1, periodUnit: DAYS, grace: 2, graceUnit: HOURS }';

describe('the other sections of a check file', () => {
  it('have every default, names by their ids, and no part in what an agent runs', async () => {
    const text = `groups: [{ id: shop }]
alertChannels: [{ id: ops, type: EMAIL, config: { address: ops@e.test } }]
heartbeats:
  - { id: backup, groupId: shop, alertChannelSubscriptions: [{ alertChannelId: ops }, { alertChannelId: 7 }, { alertChannelName: On call }], heartbeat: ${RHYTHM} }
statusServices: [{ id: web, checkIds: [home], heartbeatIds: [backup] }]
statusPages: [{ id: main, url: acme, cards: [{ name: All, services: [web] }] }]
defaults: { groupId: shop }
checks:
  - { id: home, checkType: URL, alertChannelSubscriptions: [{ alertChannelId: ops, activated: false }], request: { url: "https://e.test/" } }
  - { id: cart, checkType: URL, groupId: 5, request: { url: "https://e.test/" } }
`;
    const { checks, resources } = await parseCheckFile(text, 'checks.yaml');
    expect(checks).toMatchObject([{ groupId: null }, { groupId: 5 }]);
    expect([...resources.references]).toEqual([
      [
        'home',
        {
          groupId: 'shop',
          alertChannelSubscriptions: [{ alertChannelId: 'ops', activated: false }],
        },
      ],
    ]);
    const { sections } = resources;
    expect(sections.groups).toMatchObject([
      { id: 'shop', fields: { name: 'shop', concurrency: 3 } },
    ]);
    expect(sections.heartbeats[0]?.fields).toMatchObject({
      name: 'backup',
      groupId: 'shop',
      alertChannelSubscriptions: [
        { alertChannelId: 'ops', activated: true },
        { alertChannelId: 7, activated: true },
        { alertChannelName: 'On call', activated: true },
      ],
    });
    expect(sections.statusServices).toMatchObject([{ id: 'web', fields: { checkIds: ['home'] } }]);
    expect(sections.statusPages[0]?.fields).toMatchObject({ cards: [{ services: ['web'] }] });
  });

  it('have an empty list of channels only where the file has one, itself or in its defaults', async () => {
    const request = '{ url: "https://e.test/" }';
    const text = `defaults: { alertChannelSubscriptions: [] }
heartbeats:
  - { id: backup, heartbeat: ${RHYTHM} }
  - { id: import, alertChannelSubscriptions: [], heartbeat: ${RHYTHM} }
checks:
  - { id: quiet, checkType: URL, request: ${request} }
  - { id: loud, checkType: URL, alertChannelSubscriptions: [{ alertChannelId: 7 }], request: ${request} }
`;
    const { resources } = await parseCheckFile(text, 'checks.yaml');
    expect([...resources.references]).toEqual([['quiet', { alertChannelSubscriptions: [] }]]);
    const [backup, imports] = resources.sections.heartbeats;
    expect(backup?.fields).not.toHaveProperty('alertChannelSubscriptions');
    expect(imports?.fields).toHaveProperty('alertChannelSubscriptions', []);
    const plain = await parseCheckFile(CHECKS, 'checks.yaml');
    expect(plain.resources.references.size).toBe(0);
  });

  it('change the fingerprint of the file', async () => {
    const fingerprintOf = async (more: string) =>
      (await parseCheckFile(`${CHECKS}${more}`, 'checks.yaml')).fingerprint;
    const plain = await fingerprintOf('');
    const named = await fingerprintOf('groups: [{ id: a }]\n');
    expect(named).not.toBe(plain);
    expect(await fingerprintOf('groups: [{ id: a, tags: [b] }]\n')).not.toBe(named);
    expect(await fingerprintOf('groups:\n  - id: a\n')).toBe(named);
    expect(await fingerprintOf('defaults: { alertChannelSubscriptions: [] }\n')).not.toBe(plain);
  });

  it.each([
    ['groups: { id: a }', '4:9: groups must be a list of at most 10000 entries'],
    ['groups: [5]', '4:10: groups[0] must be a mapping with an id, not 5'],
    [
      'groups: [{ name: a }]',
      '4:10: groups[0].id is missing; it must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit',
    ],
    [
      'groups: [{ id: a }, { id: a }]',
      '4:27: groups[1].id of group "a" must be unique: groups[0] has the id "a" too',
    ],
    [
      `heartbeats: [{ id: home, heartbeat: ${RHYTHM} }]`,
      '4:20: heartbeats[0].id of heartbeat "home" must be unique: a check has the id "home" too',
    ],
    [
      `heartbeats: [{ id: a, groupId: b, heartbeat: ${RHYTHM} }]`,
      '4:32: heartbeats[0].groupId of heartbeat "a" must name the group by its id in this file, which has no "b"; define it under groups',
    ],
    [
      'groups: [{ id: a, logicalId: b }]',
      '4:19: groups[0].logicalId of group "a" is the id of the entry: leave it out',
    ],
    [
      'alertChannels: [{ id: a, type: MAIL }]',
      '4:32: alertChannels[0].type of alert channel "a" must be one of EMAIL, WEBHOOK, SLACK, SMS, TEAMS, DISCORD, TELEGRAM, PAGERDUTY, OPSGENIE, NTFY, PUSHOVER, GOOGLE_CHAT, MATTERMOST, MATRIX, GOTIFY, INCIDENT_IO, ALERTMANAGER, not "MAIL"; did you mean EMAIL?',
    ],
    [
      'alertChannels: [{ id: a, type: SLACK, config: { url: hook/s3cret } }]',
      '4:54: alertChannels[0].config.url of alert channel "a" must be an http or https URL without a user and password in it, for example https://example.com/hooks/1 (the value is not shown here)',
    ],
    [
      'alertChannels: [{ id: a, type: EMAIL, config: { address: a@e.test }, subscriptions: [] }]',
      '4:70: alertChannels[0].subscriptions of alert channel "a" belongs to the checks, as alertChannelSubscriptions',
    ],
    [
      `heartbeats: [{ id: a, alertChannelSubscriptions: [{ alertChannelId: 7, alertChannelName: b }], heartbeat: ${RHYTHM} }]`,
      '4:72: heartbeats[0].alertChannelSubscriptions[0].alertChannelName of heartbeat "a" is not a known key; did you mean alertChannelId?',
    ],
    [
      'statusServices: [{ id: a, checkIds: [hme] }]',
      '4:38: statusServices[0].checkIds[0] of status service "a" must name the check by its id in this file, which has no "hme"; did you mean home?',
    ],
    [
      `statusServices: [{ id: a, checkIds: [b] }]\nheartbeats: [{ id: b, heartbeat: ${RHYTHM} }]`,
      '4:38: statusServices[0].checkIds[0] of status service "a" must name the check by its id in this file, which has no "b"; it is a heartbeat, which belongs into heartbeatIds',
    ],
    [
      'statusServices: [{ id: a, failureRule: LOCATIONS }]',
      '4:18: statusServices[0].failureLocations of status service "a" is required with the failureRule LOCATIONS',
    ],
    [
      'statusPages: [{ id: a, url: a, cards: [{ name: A, services: [b] }] }]',
      '4:62: statusPages[0].cards[0].services[0] of status page "a" must name the status service by its id in this file, which has no "b"; define it under statusServices',
    ],
    [
      'maintenanceWindows: [{ id: a, startsAt: 2026-01-02, endsAt: 2026-01-01, repeatUnit: DAY }]',
      '4:61: maintenanceWindows[0].endsAt of maintenance window "a" must be after startsAt',
    ],
    [
      'escalationStep: { minutes: 15, alertChannelIds: [ops] }',
      '4:50: escalationStep.alertChannelIds[0] must name the alert channel by its id in this file, which has no "ops"; define it under alertChannels',
    ],
    [
      'escalationStep: { minutes: 15, alertChannelIds: [3, 4, 3] }',
      '4:56: escalationStep.alertChannelIds[2] must name another channel than the entries before it, not 3',
    ],
    [
      'escalationStep: { minute: 15, minutes: 15, alertChannelIds: [3] }',
      '4:19: escalationStep.minute is not a known key; did you mean minutes?',
    ],
    [
      'maintenanceWindow: []',
      '4:1: maintenanceWindow is not a known key; did you mean maintenanceWindows?',
    ],
  ])('%s is refused', async (section, problem) => {
    expect(await problemsOf(`# a file\n${CHECKS}${section}\n`)).toEqual([problem]);
  });

  it('report every problem of an entry at once: fields, names and rules between fields', async () => {
    const text = `${CHECKS}heartbeats: [{ id: a, groupId: b, muted: 7, heartbeat: ${RHYTHM} }]
statusServices: [{ id: a, checkIds: [hme, 5], heartbeatIds: [hme], failureRule: LOCATIONS, showUptime: 7 }]
statusPages: [{ id: a, url: A, cards: [{ name: A, services: [b] }] }]
maintenanceWindows: [{ id: a, startsAt: 2026-01-02, endsAt: 2026-01-01, repeatUnit: NEVER }]
`;
    const paths = (await problemsOf(text)).map((line) => /: (\S+)/.exec(line)?.[1]);
    expect(paths.toSorted()).toEqual([
      'heartbeats[0].groupId',
      'heartbeats[0].muted',
      'maintenanceWindows[0].endsAt',
      'maintenanceWindows[0].repeatUnit',
      'statusPages[0].cards[0].services[0]',
      'statusPages[0].url',
      'statusServices[0].checkIds[0]',
      'statusServices[0].checkIds[1]',
      'statusServices[0].failureLocations',
      'statusServices[0].heartbeatIds[0]',
      'statusServices[0].showUptime',
    ]);
  });

  it('may name resources of the service by their ids there', async () => {
    const id = '2b1f3f0e-7c55-4a36-9a4c-0d3a0a4f6f11';
    const text = `${CHECKS}statusPages: [{ id: a, url: a, cards: [{ name: A, services: ["${id}"] }] }]\n`;
    const { resources } = await parseCheckFile(text, 'checks.yaml');
    const [page] = resources.sections.statusPages;
    expect(page?.fields).toMatchObject({ cards: [{ services: [id] }] });
  });
});
