import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  isLoopback,
  START_TEXTS,
  STARTS,
  startLines,
} from '../../../../../../src/web/dashboard/pages/locations/start-lines.ts';
import { readmeCommand } from '../../../../../support/compose/readme-commands.ts';
import { readDocument } from '../../../../../support/documents.ts';

const KEY = 'pl_0123456789abcdef0123456789abcdef';
const SERVICE_URL = 'https://vedette.example.com/monitor';

describe('the lines that start an agent', () => {
  it('are the commands of the documents', () => {
    const [secret = '', deploy = ''] = readmeCommand('kubernetes-agents').split('\n\n');
    const documented = {
      docker: readmeCommand('docker-run-agent').replace(' --network vedette', ''),
      kubernetes: `${secret}\n\n${deploy}`,
      helm: `${secret}\n\n${readmeCommand('helm-agents')}`,
      systemd: readmeCommand('systemd-agent'),
    };
    for (const [start, command] of Object.entries(documented)) {
      expect(START_TEXTS[start as keyof typeof documented].command).toBe(command.trimEnd());
    }
    expect(readDocument('README.md')).toContain(START_TEXTS.node.command);
  });

  it.each(STARTS)('have the address of the service and the key (%s)', (start) => {
    const [url, key, ...rest] = startLines(start, { serviceUrl: SERVICE_URL, key: KEY }).split(
      '\n',
    );
    expect(url).toBe(`export SERVICE_URL=${SERVICE_URL}`);
    expect(key).toMatch(new RegExp(`^export (API_KEY|LOCATION_KEY)=${KEY}$`));
    const variable = START_TEXTS[start].keyVariable;
    expect(key).toContain(variable);
    // Docker passes variables of the environment on by name.
    if (start !== 'node')
      expect(rest.join('\n')).toMatch(new RegExp(`\\$${variable}|-e ${variable}`));
    expect(spawnSync('sh', ['-n'], { input: rest.join('\n') }).status).toBe(0);
  });
});

describe('an address of the loopback', () => {
  it('is reached from its own machine only', () => {
    expect(isLoopback('http://127.0.0.1:8080')).toBe(true);
    expect(isLoopback('http://localhost:8080/monitor')).toBe(true);
    expect(isLoopback('http://[::1]:8080')).toBe(true);
    expect(isLoopback('https://vedette.example.com')).toBe(false);
    expect(isLoopback('http://10.0.0.7:8080')).toBe(false);
  });
});
