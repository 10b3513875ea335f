import { NO_OPERATOR_VARIABLES } from '../../src/agent/config/operator-variables.ts';
import { NO_ATTEMPT_SECRETS } from '../../src/agent/secrets/attempt-secrets.ts';
import { renderCheck } from '../../src/agent/secrets/render-check.ts';
import { openVault, type SecretsVault } from '../../src/agent/secrets/vault.ts';
import { NO_SECRETS } from '../../src/model/scrub/scrubber.ts';
import type { OwnVariable } from '../../src/model/variable.ts';
import { FakeClock } from './fake-clock.ts';
import { captureLog } from './log-capture.ts';

/** For tests about something else: no variable and no secret. */
export const EMPTY_VAULT: SecretsVault = {
  scrubber: NO_SECRETS,
  take: async () => {},
  admit: async () => {},
  render: (check) => renderCheck(check, () => undefined),
  credentials: () => NO_ATTEMPT_SECRETS,
  scrubberWith: async () => NO_SECRETS,
  missing: () => [],
  watch: async () => {},
};

/** A vault that knows these variables. */
export async function vaultOf(...variables: readonly OwnVariable[]): Promise<SecretsVault> {
  const { log } = captureLog();
  const options = { operator: NO_OPERATOR_VARIABLES, always: [], clock: new FakeClock(), log };
  const vault = await openVault(options);
  await vault.take({ checks: [], variables, proxyUrl: null });
  return vault;
}
