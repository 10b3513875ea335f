import {
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from '../../../model/alerting/service-channels.ts';
import type { ServiceTarget } from '../../../model/alerting/service-targets.ts';
import type { Clock } from '../../../runtime/clock.ts';
import {
  type HttpOutcome,
  MAX_RETRY_AFTER_MS,
  type OutgoingHttp,
} from '../../outgoing/outgoing-http.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';
import { createAnalysisScrubber } from '../../root-cause/redaction/analysis-scrubber.ts';
import { secretValues } from '../channels/channel-secrets.ts';
import type { Adapter } from './adapters/adapter.ts';
import { ADAPTERS } from './adapters/registry.ts';
import type { Send } from './send.ts';

/** Sends to the chats, push and incident services of `SERVICE_CHANNELS`, each by its adapter. */
export function createServiceChannelSender(http: OutgoingHttp, clock: Clock): Send<ServiceTarget> {
  return async ({ deliveryId, key, target, facts }, signal) => {
    const adapter: Adapter<ServiceChannelType> = ADAPTERS[target.type];
    const nowMs = clock.wallMs();
    const request = adapter.request({ config: target.config, facts, key, deliveryId, nowMs });
    const { method } = SERVICE_CHANNELS[target.type];
    const sent = await http.send({ ...request, method, isGuarded: true }, signal);
    return judged(sent, adapter, target);
  };
}

const TOO_MANY = 429;
/** RFC 9110 15.5.9, RFC 8470 5.2, RFC 6585 4: the same request may succeed later. */
const TEMPORARY: readonly number[] = [408, 425, TOO_MANY];

/**
 * A status from 400 to 499 is final, except for those of TEMPORARY: the service refuses this message or these
 * credentials, and would refuse them again.
 */
function judged(
  sent: HttpOutcome,
  adapter: Adapter<ServiceChannelType>,
  target: ServiceTarget,
): SendOutcome {
  const { isOfReceiver: _, ...outcome } = { ...sent, answer: withoutSecrets(sent.answer, target) };
  if (outcome.ok || outcome.status === null) return outcome;
  const { status } = outcome;
  if (TEMPORARY.includes(status)) {
    const asked = status === TOO_MANY ? (adapter.retryAfterMs?.(parsed(sent.answer)) ?? 0) : 0;
    const retryAfterMs = Math.max(outcome.retryAfterMs ?? 0, Math.min(asked, MAX_RETRY_AFTER_MS));
    return { ...outcome, retryAfterMs: retryAfterMs === 0 ? null : retryAfterMs };
  }
  if (status < 400 || status > 499) return outcome;
  const reason = REASONS[status];
  const error = reason === undefined ? outcome.error : `${outcome.error}: ${reason}`;
  return { ...outcome, error, isFinal: true };
}

const REFUSES_KEY = 'the service refuses the key or token of the channel';
const REASONS: Readonly<Record<number, string>> = {
  400: 'the service refuses the message; check the configuration of the channel',
  401: REFUSES_KEY,
  403: REFUSES_KEY,
  404: 'the service does not know the receiver; check the configuration of the channel',
  410: 'the receiver no longer exists',
};

/** Some receivers echo the request, and readers of the log must not see its secrets. */
function withoutSecrets(answer: string | null, target: ServiceTarget): string | null {
  const secrets = Object.values(secretValues(target)).filter((value) => value !== null);
  return answer === null || secrets.length === 0
    ? answer
    : createAnalysisScrubber(secrets).text(answer);
}

/** @returns null for a body that is not JSON */
function parsed(answer: string | null): unknown {
  try {
    return answer === null ? null : JSON.parse(answer);
  } catch {
    return null;
  }
}
