import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../../src/agent/config/agent-config.ts';
import { createErrorReports } from '../../../../src/agent/error-reports/error-reports.ts';
import { runDaemon } from '../../../../src/cli/commands/run-daemon.ts';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { memoryTerminal } from '../../../support/agent/memory-terminal.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { agentSecretsOf } from '../../../support/samples/secrets.ts';

/** The crashes that a daemon leaves behind whose backend cannot be opened. */
async function leftBy(thrown: unknown): Promise<readonly unknown[]> {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  const { log } = captureLog();
  const { terminal } = memoryTerminal();
  const { clock } = terminal;
  const config = loadConfig({
    SERVICE_URL: 'http://127.0.0.1:1',
    API_KEY: `pl_${'0'.repeat(32)}`,
    AGENT_HEALTH_PORT: '0',
    EVIDENCE: 'off',
  });
  const parts = {
    config,
    log,
    openBackend: () => Promise.reject(thrown),
    secrets: await agentSecretsOf(),
    reports: createErrorReports({ clock, dataDir: folder.path, version: '1.2.3', log }),
    onListening: () => {},
  };
  await expect(runDaemon(parts, terminal)).rejects.toBe(thrown);
  const file = folder.file('crash-reports.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).crashes : [];
}

it.each([
  ['an error of no kind', new TypeError('no'), 'TypeError'],
  ['a fault of our own', new VedetteError('internal', 'LOST', 'no'), 'VedetteError'],
])('%s that ends the agent is kept for the next one to report', async (_what, thrown, name) => {
  expect(await leftBy(thrown)).toMatchObject([{ report: { class: name, count: 1 } }]);
});

it('an error that the operator can fix is not reported as one of the agent', async () => {
  expect(await leftBy(new VedetteError('environment', 'DATA_DIR_IN_USE', 'no'))).toEqual([]);
});
