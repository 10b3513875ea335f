import { randomUUID } from 'node:crypto';
import type { TestSessionFacts } from '../../model/result/test-session.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { ApiClient, isInterrupted, waitPrinter } from '../service-api/api-client.ts';
import { loadConnection } from '../service-api/connection.ts';
import type { Terminal } from '../terminal.ts';
import { SessionReport } from './session-report.ts';

const PATH = '/v1/test-sessions';

/** Collects and sends the report of a run. */
export interface Reporter {
  /** Collects the results. */
  readonly report: SessionReport;
  /**
   * Sends the report and prints one line on stderr: the session's URL, or why it was not sent.
   *
   * @returns whether the service has it
   */
  send(signal: AbortSignal): Promise<boolean>;
}

/**
 * Creates a reporter for one run.
 *
 * @throws VedetteError of kind `config` for an invalid SERVICE_URL or key: before any check runs
 */
export function createSessionReporter(facts: TestSessionFacts, terminal: Terminal): Reporter {
  const { stderr, clock, env } = terminal;
  const connection = loadConnection(env, 'report');
  const id = randomUUID();
  const report = new SessionReport(id, facts);
  const printLine = (line: string): void => void stderr.write(`${line}\n`);

  async function sendAll(client: ApiClient, signal: AbortSignal): Promise<void> {
    for (const body of report.requests()) {
      const reply = await client.send('POST', PATH, { body, signal, isRepeatable: true });
      if (reply.ok) continue;
      const message = `the service refuses it (${reply.status}): ${reply.message}`;
      throw new VedetteError('environment', 'REPORT_REFUSED', message);
    }
  }

  return {
    report,
    async send(signal) {
      const client = new ApiClient({ ...connection, clock, onWait: waitPrinter(terminal) });
      try {
        await sendAll(client, signal);
        const base = connection.serviceUrl.href.replace(/\/+$/, '');
        const { leftOut } = report;
        const without =
          leftOut === 0 ? '' : ` (without ${countText(leftOut, 'result')}, as there were too many)`;
        printLine(`reported as ${base}${PATH}/${id}${without}`);
        return true;
      } catch (thrown) {
        if (!(thrown instanceof VedetteError)) throw thrown;
        const why = isInterrupted(thrown) ? 'it was interrupted' : messageOf(thrown);
        printLine(`vedette: the run is not reported: ${terminalSafe(why, 2_000)}`);
        return false;
      } finally {
        await client.close();
      }
    },
  };
}
