import type { CheckSet } from '../../agent/source/check-source.ts';
import type { Environment } from '../../runtime/config/variable.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { SERVICE_VARIABLES } from '../../service/config.ts';

/** What the service needs to send to channels of a type that goes through a server of the operator. */
const NEEDS = [
  {
    type: 'EMAIL',
    channel: 'email channel',
    variable: SERVICE_VARIABLES.smtpUrl.name,
    start: `with ${SERVICE_VARIABLES.smtpUrl.name} and ${SERVICE_VARIABLES.smtpFrom.name}`,
  },
  {
    type: 'SMS',
    channel: 'SMS channel',
    variable: SERVICE_VARIABLES.smsUrl.name,
    start: `with ${SERVICE_VARIABLES.smsUrl.name}`,
  },
] as const;

/**
 * One line for each type of which the file has channels that this service cannot send to: the first alert
 * would be lost.
 */
export function unsentChannelNotes(
  { resources }: Pick<CheckSet, 'resources'>,
  env: Environment,
): readonly string[] {
  const channels = resources?.sections.alertChannels ?? [];
  return NEEDS.flatMap(({ type, channel, variable, start }) => {
    const count = channels.filter(({ fields }) => fields.type === type).length;
    if (count === 0 || (env[variable] ?? '') !== '') return [];
    const get = count === 1 ? 'gets' : 'get';
    return [
      `${countText(count, channel)} of the file ${get} no alerts: ${variable} is not set; start ${start}`,
    ];
  });
}
