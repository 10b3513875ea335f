import type { WebhookConfig } from '../../../model/alerting/alert-channel.ts';
import { sampleNotice } from '../delivery/sample-notice.ts';
import { escapeFor } from './escape.ts';
import { renderTemplate } from './template.ts';
import { variablesOf } from './variables.ts';

/** What is wrong with a webhook's template, in words that follow its name; null where nothing is. */
export function templateProblemOf({ template }: Pick<WebhookConfig, 'template'>): string | null {
  if (template === null) return null;
  const notice = sampleNotice({ alertId: 'test', atMs: 0 });
  const variables = variablesOf({ deliveryId: 'test', notice });
  const rendered = renderTemplate(template, variables, escapeFor('application/json'));
  return rendered.ok ? null : `must be a template that can be used: ${rendered.problem}`;
}
