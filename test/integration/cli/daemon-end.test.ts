import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { EXIT } from '../../../src/cli/terminal.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { eventually } from '../../support/eventually.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

it('a daemon that has stopped ends its process, even if nobody reads its output', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('checks.yaml'), JSON.stringify({ checks: [] }));
  const { terminal, stderr } = memoryTerminal();
  const env = { CHECKS_FILE: folder.file('checks.yaml'), AGENT_HEALTH_PORT: '0' };
  const exits: number[] = [];
  const ended = runProgram(['agent'], { ...terminal, env }, (code) => void exits.push(code));
  await eventually(() => stderr().includes('health and metrics are served'));
  expect(exits).toEqual([]);
  terminal.signals.emit('SIGTERM');
  expect(await ended).toBe(EXIT.ok);
  expect(exits).toEqual([EXIT.ok]);
});
