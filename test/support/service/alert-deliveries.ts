import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { SecretBox } from '../../../src/runtime/secret-box.ts';
import { createNoticeSender } from '../../../src/service/alerts/delivery/notice-sender.ts';
import { createOutbox } from '../../../src/service/alerts/delivery/outbox.ts';
import {
  type DeliveryWorkerParts,
  runDeliveryWorker,
} from '../../../src/service/alerts/delivery/worker.ts';
import type { AlertNotice } from '../../../src/service/alerts/notice.ts';
import { NO_OUTGOING, type OutgoingConfig } from '../../../src/service/outgoing/outgoing-config.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';
import type { Reply } from './service-app.ts';
import { TEST_SECRETS } from './service-features.ts';
import type { TestService } from './service-fixture.ts';

export const CHANNELS = '/v1/alert-channels';

const CHECK = { name: 'A check', locations: ['eu-west-1'], request: { url: 'https://e.test/' } };

/** A check of the account that no channel is subscribed to by default. */
export async function makeCheck(
  { mine }: TestService,
  id: string,
  fields: object = {},
): Promise<Reply['json']> {
  const path = `/v1/checks/url/${id}?autoAssignAlerts=false`;
  const made = await mine.put(path, { ...CHECK, ...fields });
  if (made.status !== 200) throw new Error(`no check: ${made.text}`);
  return made.json;
}

export async function makeChannel(service: TestService, fields: object): Promise<number> {
  const made = await service.mine.post(CHANNELS, fields);
  if (made.status !== 201) throw new Error(`no channel: ${made.text}`);
  return made.json.id;
}

/** A channel that is subscribed to the checks, with all event types. */
export async function makeWebhook(
  service: TestService,
  config: object,
  checkIds: readonly string[] = ['home'],
): Promise<number> {
  return makeChannel(service, {
    type: 'WEBHOOK',
    config: { name: 'Hook', ...config },
    sendDegraded: true,
    sslExpiry: true,
    subscriptions: checkIds.map((checkId) => ({ checkId })),
  });
}

type NoticeFields = Partial<Omit<AlertNotice, 'check'>> & {
  readonly check?: Partial<AlertNotice['check']>;
};

/** A failure of `home`, overridden by the fields. */
export function noticeOf(
  { clock }: Pick<TestService, 'clock'>,
  { check, ...fields }: NoticeFields = {},
): AlertNotice {
  return {
    alertId: randomUUID(),
    alertType: 'ALERT_FAILURE',
    atMs: clock.wallMs(),
    check: {
      id: 'home',
      name: 'A check',
      checkType: 'URL',
      tags: ['shop', 'eu'],
      groupName: null,
      ...check,
    },
    resultId: 'result-1',
    runLocation: 'eu-west-1',
    responseTime: 123.4,
    error: 'The connection was refused',
    statusCode: null,
    startedAtMs: clock.wallMs() - 1000,
    sslDaysRemaining: null,
    reminder: 0,
    ...fields,
  };
}

export async function put(
  { store, mine }: TestService,
  ...notices: readonly AlertNotice[]
): Promise<void> {
  await store.transaction((tx) => createOutbox().put(tx, mine.accountId, notices));
}

export interface RunningWorker {
  readonly logs: LogCapture;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
  readonly ended: Promise<void>;
}

/**
 * A worker that the database cannot distinguish from one of another process. Stopped when the test
 * ends.
 */
export function startWorker(
  { store, clock }: TestService,
  config: Partial<OutgoingConfig> = {},
  secrets: SecretBox | null = TEST_SECRETS,
  listeners: Pick<DeliveryWorkerParts, 'onAttempt' | 'onFinished'> = {},
): RunningWorker {
  const logs = captureLog();
  const stopping = new AbortController();
  const linkBase = { url: 'https://vedette.test' };
  const sender = createNoticeSender({ ...NO_OUTGOING, ...config }, { clock, linkBase });
  const ended = runDeliveryWorker(
    { store, clock, log: logs.log, ids: randomUUID, linkBase, sender, secrets, ...listeners },
    stopping.signal,
  ).finally(sender.close);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  onTestFinished(stop);
  return { logs, stop, ended };
}

/** The log of the channel, newest first, as soon as it is as wanted. */
export async function deliveriesWhen(
  { mine }: TestService,
  channelId: number,
  isWanted: (rows: Reply['json']) => boolean,
): Promise<Reply['json']> {
  for (;;) {
    const reply = await mine.get(`${CHANNELS}/${channelId}/deliveries?limit=100`);
    if (reply.status !== 200) throw new Error(`no log: ${reply.text}`);
    if (isWanted(reply.json)) return reply.json;
  }
}

/** Resolves when all of the channel's deliveries have the state. */
export function whenAll(state: string): (rows: readonly { readonly state: string }[]) => boolean {
  return (rows) => rows.length > 0 && rows.every((row) => row.state === state);
}
