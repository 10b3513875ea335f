import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { WebhookConfig } from '../../../model/alerting/channel-configs.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { escapeFor } from '../../outgoing/escape.ts';
import type { OutgoingHttp } from '../../outgoing/outgoing-http.ts';
import { withRemark } from '../../outgoing/send-outcome.ts';
import { signedHeaders } from '../../outgoing/signed-headers.ts';
import { renderTemplate } from '../../outgoing/template.ts';
import { createAnalysisScrubber } from '../../root-cause/redaction/analysis-scrubber.ts';
import { secretsIn } from '../channels/channel-secrets.ts';
import { plainTextOf } from './adapters/message-texts.ts';
import type { MessageFacts } from './message-facts.ts';
import { variablesOf } from './notice-variables.ts';
import type { OpenDelivery, Send } from './send.ts';

type Webhook = Extract<ChannelTarget, { type: 'WEBHOOK' }>;

const JSON_TYPE = 'application/json';

export function createWebhookSender(http: OutgoingHttp, clock: Clock): Send<Webhook> {
  return async ({ deliveryId, target: { config }, notice, facts }, signal) => {
    const url = new URL(config.url);
    for (const { key, value } of config.queryParameters) url.searchParams.append(key, value);
    const own = new Map(config.headers.map(({ key, value }) => [key.toLowerCase(), value]));

    const hasBody = config.method !== 'GET' && config.method !== 'HEAD';
    const { text, contentType, remark } = hasBody
      ? webhookBody(config, { deliveryId, notice, facts })
      : { text: '', contentType: JSON_TYPE, remark: null };
    const sent = await http.send(
      {
        method: config.method,
        url,
        headers: {
          ...Object.fromEntries(own),
          ...(hasBody ? { 'content-type': contentType } : {}),
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
    return withRemark({ ...sent, answer: withoutSecrets(sent.answer, config) }, remark);
  };
}

/** Some receivers echo the request, and readers of the log must not see its secrets. */
function withoutSecrets(answer: string | null, config: WebhookConfig): string | null {
  const secrets = secretsIn(config);
  return answer === null || secrets.length === 0
    ? answer
    : createAnalysisScrubber(secrets).text(answer);
}

interface WebhookBody {
  readonly text: string;
  readonly contentType: string;
  /** Why the default body replaces that of the template; null if it does not. */
  readonly remark: string | null;
}

/** Falls back to the default body: an alert in another format is better than none. */
export function webhookBody(
  { template, headers }: Pick<WebhookConfig, 'template' | 'headers'>,
  {
    deliveryId,
    notice,
    facts,
  }: Pick<OpenDelivery, 'deliveryId' | 'notice'> & { readonly facts: MessageFacts },
): WebhookBody {
  const variables = {
    ...variablesOf({ deliveryId, notice }),
    // Made with the templates of the channel.
    ALERT_TITLE: facts.headline,
    ALERT_TEXT: plainTextOf({ ...facts, acknowledgeLink: null }),
  };
  const given = headers.findLast(({ key }) => key.toLowerCase() === 'content-type')?.value;
  const contentType = given ?? JSON_TYPE;
  const standard = JSON.stringify(variables);
  if (template === null) return { text: standard, contentType, remark: null };
  const rendered = renderTemplate(template, variables, escapeFor(contentType));
  if (rendered.ok) return { text: rendered.text, contentType, remark: null };
  const remark = `the default body was sent, since the template failed: ${rendered.problem}`;
  return { text: standard, contentType: JSON_TYPE, remark };
}
