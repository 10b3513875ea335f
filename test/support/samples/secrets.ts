import { NO_OPERATOR_VARIABLES } from '../../../src/agent/config/operator-variables.ts';
import { targetsByName, variableTarget } from '../../../src/agent/config/variable-targets.ts';
import { type AgentSecrets, openAgentSecrets } from '../../../src/agent/secrets/agent-secrets.ts';
import { NO_ATTEMPT_SECRETS } from '../../../src/agent/secrets/attempt-secrets.ts';
import { NO_OPERATOR_SECRETS } from '../../../src/agent/secrets/operator-secrets.ts';
import { compileScripted, renderCheck } from '../../../src/agent/secrets/render-check.ts';
import { Placeholders, scriptViewOf } from '../../../src/agent/secrets/script-view.ts';
import type { OwnVariable } from '../../../src/model/check/variable.ts';
import { NO_SECRETS } from '../../../src/scrub/scrubber.ts';
import { NO_PARTS } from '../../../src/scrub/secret-parts.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog } from '../log-capture.ts';

/** For tests of something else: no variables and no secrets. */
export const EMPTY_SECRETS: AgentSecrets = {
  scrubber: NO_SECRETS,
  take: async () => {},
  admit: async () => {},
  render(check) {
    const rendered = renderCheck(check, () => undefined);
    return rendered.ok ? { ...rendered, own: NO_OPERATOR_SECRETS, parts: NO_PARTS } : rendered;
  },
  viewForScripts: (check) =>
    scriptViewOf(
      check,
      check.variables.map(({ key, value }) => [key, value]),
      new Placeholders(),
    ),
  renderScripted(view, check, set) {
    compileScripted(check, view.templateOf, set);
    return this.render(check);
  },
  credentials: () => NO_ATTEMPT_SECRETS,
  scrubberWith: async () => NO_SECRETS,
  missing: () => [],
  watch: async () => {},
};

/** AgentSecrets with these variables. */
export async function agentSecretsOf(...variables: readonly OwnVariable[]): Promise<AgentSecrets> {
  const { log } = captureLog();
  const options = { operator: NO_OPERATOR_VARIABLES, always: [], clock: new FakeClock(), log };
  const agentSecrets = await openAgentSecrets(options);
  await agentSecrets.take({ checks: [], variables, proxyUrl: null });
  return agentSecrets;
}

/** AgentSecrets with variables that only the agent has, and entries of VARIABLE_TARGETS for them. */
export function operatorSecretsOf(
  values: Readonly<Record<string, string>>,
  entries: readonly string[] = [],
): Promise<AgentSecrets> {
  const targets = targetsByName(
    entries.map((entry) => {
      const parsed = variableTarget(entry);
      if (!parsed.ok) throw new Error(entry);
      return parsed.value;
    }),
  );
  const operator = { fromEnv: new Map(Object.entries(values)), folder: null, targets };
  const { log } = captureLog();
  return openAgentSecrets({ operator, always: [], clock: new FakeClock(), log });
}
