// Runs the agent on a check file, and reads its results as they come. Its argument is
// {main, file, nodeArgs, unread: ids of checks to leave out} as JSON; it prints a line when the agent has
// the checks, and ends the agent with its own input. {"pid": true} on stdin is answered with {pid}, the agent's, since nobody ends
// that where this process is killed; any other line with what came since the one before, as {runs:
// [[checkId, slotMs, startedAtMs, firstByteErrorMs | null], …], failed: [what], missed: slots}.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const MAX_TOLD = 20;

const { main, file, nodeArgs, unread } = JSON.parse(process.argv[2]);
const isUnread = new Set(unread);
const agent = spawn(process.execPath, [...nodeArgs, main, 'agent'], {
  env: {
    PATH: process.env.PATH,
    CHECKS_FILE: file,
    AGENT_HEALTH_PORT: '0',
    SHUTDOWN_GRACE_SECONDS: '1',
    LOG_LEVEL: 'info',
  },
  stdio: ['ignore', 'pipe', 'pipe'],
});
process.on('exit', () => agent.kill('SIGKILL'));
let said = '';
agent.once('exit', () => {
  process.stderr.write(`the agent ended: ${said}`);
  process.exit(1);
});

let runs = [];
let failed = [];
let missed = 0;

function take(line) {
  const result = JSON.parse(line);
  if (isUnread.has(result.checkId ?? result.missed?.checkId)) return;
  if (result.missed !== undefined) {
    missed += result.missed.count;
    return;
  }
  // On a busy machine a response may come too late, which is no failure here.
  if ((result.hasFailures || result.hasErrors) && !result.overMaxResponseTime) {
    const { apiCheckResult, tcpCheckResult, dnsCheckResult } = result;
    const detail = apiCheckResult ?? tcpCheckResult ?? dnsCheckResult;
    if (failed.length < MAX_TOLD) failed.push(`${result.checkId}: ${detail?.requestError}`);
  }
  if (result.resultType !== 'FINAL') return;
  const response = result.apiCheckResult?.response;
  const held = response?.headers['x-held-ms'];
  const errorMs = held === undefined ? null : response.timingPhases.firstByte - Number(held);
  runs.push([result.checkId, result.checkRunId, Date.parse(result.startedAt), errorMs]);
}

createInterface({ input: agent.stdout }).on('line', take);
await new Promise((resolve) => {
  agent.stderr.setEncoding('utf8').on('data', (text) => {
    if (said.length < 20_000) said += text;
    if (said.includes('checks loaded')) resolve();
  });
});
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (JSON.parse(line).pid === true) {
    process.stdout.write(`${JSON.stringify({ pid: agent.pid })}\n`);
    continue;
  }
  process.stdout.write(`${JSON.stringify({ runs, failed, missed })}\n`);
  runs = [];
  failed = [];
  missed = 0;
}
agent.removeAllListeners('exit');
agent.kill('SIGTERM');
await once(agent, 'exit');
process.exit();
