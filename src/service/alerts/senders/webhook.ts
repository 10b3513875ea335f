import type { ChannelTarget, WebhookConfig } from '../../../model/alerting/alert-channel.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { escapeFor } from '../../outgoing/escape.ts';
import type { OutgoingHttp } from '../../outgoing/outgoing-http.ts';
import { signedHeaders } from '../../outgoing/signed-headers.ts';
import { renderTemplate } from '../../outgoing/template.ts';
import { createAnalysisScrubber } from '../../root-cause/redaction/analysis-scrubber.ts';
import { secretsIn } from '../channels/channel-secrets.ts';
import { sampleNotice } from '../delivery/sample-notice.ts';
import { variablesOf } from './notice-variables.ts';
import type { Send } from './send.ts';

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

/** Some receivers echo the request, and readers of the log must not see its secrets. */
function withoutSecrets(answer: string | null, config: WebhookConfig): string | null {
  const secrets = secretsIn(config);
  return answer === null || secrets.length === 0
    ? answer
    : createAnalysisScrubber(secrets).text(answer);
}

/** Falls back to the default body: an alert in another format is better than none. */
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

/** The problem of a webhook's template, in words that follow its name; null for none. */
export function templateProblemOf({ template }: Pick<WebhookConfig, 'template'>): string | null {
  if (template === null) return null;
  const notice = sampleNotice({ alertId: 'test', atMs: 0 });
  const variables = variablesOf({ deliveryId: 'test', notice });
  const rendered = renderTemplate(template, variables, escapeFor('application/json'));
  return rendered.ok ? null : `must be a template that can be used: ${rendered.problem}`;
}
