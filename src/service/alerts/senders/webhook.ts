import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createScrubber } from '../../root-cause/scrub/scrubber.ts';
import { secretsIn } from '../channels/channel-secrets.ts';
import type { Send } from '../delivery/outcome.ts';
import { escapeFor } from './escape.ts';
import type { OutgoingHttp } from './outgoing-http.ts';
import { signedHeaders } from './signature.ts';
import { renderTemplate } from './template.ts';
import { variablesOf } from './variables.ts';

type Webhook = Extract<ChannelTarget, { type: 'WEBHOOK' }>;

const JSON_TYPE = 'application/json';

export function createWebhookSender(http: OutgoingHttp, clock: Clock): Send<Webhook> {
  return async ({ deliveryId, target: { config }, notice }, signal) => {
    const url = new URL(config.url);
    for (const { key, value } of config.queryParameters) url.searchParams.append(key, value);
    const own = new Map(config.headers.map(({ key, value }) => [key.toLowerCase(), value]));

    const hasBody = config.method !== 'GET' && config.method !== 'HEAD';
    const contentType = own.get('content-type') ?? JSON_TYPE;
    const variables = variablesOf({ deliveryId, notice });
    const { text, remark } = hasBody
      ? bodyOf(config.template, variables, contentType)
      : { text: '', remark: null };
    const sent = await http.send(
      {
        method: config.method,
        url,
        headers: {
          ...Object.fromEntries(own),
          ...(hasBody ? { 'content-type': remark === null ? contentType : JSON_TYPE } : {}),
          ...signedHeaders({
            deliveryId,
            body: text,
            secret: config.webhookSecret ?? null,
            atMs: clock.wallMs(),
          }),
        },
        body: hasBody ? text : null,
        isGuarded: true,
      },
      signal,
    );
    const outcome = { ...sent, answer: withoutSecrets(sent.answer, config) };
    if (remark === null) return outcome;
    return outcome.ok
      ? { ...outcome, remark }
      : { ...outcome, error: `${outcome.error}; ${remark}` };
  };
}

/** Some receivers answer with what they were sent, and the log is for people who see no secrets. */
function withoutSecrets(answer: string | null, config: Webhook['config']): string | null {
  const secrets = secretsIn(config);
  return answer === null || secrets.length === 0 ? answer : createScrubber(secrets).text(answer);
}

/** An alert that looks other than it was to is worth more than none: so there is always a body. */
function bodyOf(
  template: string | null,
  variables: ReturnType<typeof variablesOf>,
  contentType: string,
): { readonly text: string; readonly remark: string | null } {
  const standard = JSON.stringify(variables);
  if (template === null) return { text: standard, remark: null };
  const rendered = renderTemplate(template, variables, escapeFor(contentType));
  if (rendered.ok) return { text: rendered.text, remark: null };
  const remark = `the default body was sent, since the template failed: ${rendered.problem}`;
  return { text: standard, remark };
}
