import type { Check } from '../../model/check/check.ts';
import type { OperatorVariables } from '../config/operator-variables.ts';
import { NO_OPERATOR_SECRETS, type OperatorSecret, OperatorSecrets } from './operator-secrets.ts';
import { hostsIn, isInBody, isInHost, isInTokenRequest, namesFromOthers } from './render-check.ts';

/**
 * The variables of the agent itself that a request contains, or may contain.
 *
 * @param sent the check as written, with its templates
 */
export function findOperatorSecrets(
  sent: Check,
  {
    agent,
    targets,
    scripted,
  }: Pick<OperatorVariables, 'targets'> & {
    /** The values of the agent's own variables, by name. */
    readonly agent: ReadonlyMap<string, string>;
    /** The check with its values, if scripts made it; otherwise null. */
    readonly scripted: Check | null;
  },
): OperatorSecrets {
  const names = namesFromOthers(sent);
  const own: OperatorSecret[] = names.flatMap((name) => {
    const value = agent.get(name);
    if (value === undefined) return [];
    return [
      {
        name,
        value,
        targets: targets.get(name) ?? null,
        isInBody: isInBody(sent, name),
        isInHost: isInHost(sent, name),
        isInTokenRequest: isInTokenRequest(sent, name),
      },
    ];
  });
  // Scripts see the values of variables without targets, and may have put them anywhere.
  for (const [name, value] of scripted === null ? [] : agent) {
    if (names.includes(name) || targets.has(name)) continue;
    // The host is searched for the value itself.
    const uses = { isInBody: true, isInHost: false, isInTokenRequest: true };
    own.push({ name, value, targets: null, ...uses });
  }
  if (own.length === 0) return NO_OPERATOR_SECRETS;
  return new OperatorSecrets(own, scripted === null ? [] : hostsIn(scripted));
}
