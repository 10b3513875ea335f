import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { readmeCommand } from '../compose/readme-commands.ts';
import { newApiKey, until } from '../service/deployment.ts';
import type { Ask, Reply } from '../service/service-app.ts';
import type { Container } from './container.ts';
import { ContainerHost } from './container-host.ts';
import { ensureImages } from './images.ts';
import { requestThrough } from './port-forward.ts';

const TARGETS = fileURLToPath(new URL('../compose/targets.mjs', import.meta.url));
const SERVICE_PORT = 8080;
const AGENT_PORT = 8081;
const TARGETS_PORT = 8000;
const NO_REPLY: Reply = { status: 0, headers: {}, text: '', json: null };

export interface AgentKey {
  readonly location: string;
  readonly key: string;
}

/**
 * The service in a container, started as in the README, and a container `targets` for checks, in a
 * separate network; one agent at a time.
 */
export class ContainerDeployment {
  readonly host: ContainerHost;
  readonly #apiKey = newApiKey();
  #locations = 0;

  private constructor(host: ContainerHost) {
    this.host = host;
  }

  static async start(): Promise<ContainerDeployment> {
    const host = await ContainerHost.open(inject('containersFolder'));
    await ensureImages(host);
    const deployment = new ContainerDeployment(host);
    await deployment.command('docker-run-service', { FIRST_API_KEY: deployment.#apiKey });
    const port = `127.0.0.1:${TARGETS_PORT}:${TARGETS_PORT}`;
    const how = ['--network', 'vedette', '-p', port, '-v', `${TARGETS}:/targets.mjs:ro`];
    const node = ['--entrypoint', '/usr/local/bin/node', 'vedette-agent', '/targets.mjs'];
    await host.podman('run', '--detach', '--name', 'targets', ...how, ...node);
    await deployment.serviceIsReady();
    return deployment;
  }

  get service(): Container {
    return this.host.container('vedette');
  }

  /** Runs a command of the README, changed only by `edit`. */
  async command(
    name: string,
    env: Readonly<Record<string, string>> = {},
    { edit = (text: string) => text, cwd }: { edit?(text: string): string; cwd?: string } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.host.script(edit(readmeCommand(name)), env, cwd);
    if (code !== 0) throw new Error(`${name}: exit ${code}\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** Calls the service as its first admin. @throws Error for any status but success */
  async ask(path: string, ask: Ask = {}): Promise<Reply> {
    const socketPath = await this.host.forwardPort(SERVICE_PORT);
    const reply = await requestThrough(socketPath, path, { key: this.#apiKey, ...ask });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
    return reply;
  }

  /** A new private location, with a key for its agent. */
  async addLocation(): Promise<AgentKey> {
    this.#locations += 1;
    const location = `place-${this.#locations}`;
    const body = { slug: location, name: location };
    const { json: made } = await this.ask('/v1/private-locations', { method: 'POST', body });
    const path = `/v1/private-locations/${made.id}/keys`;
    const { json } = await this.ask(path, { method: 'POST' });
    return { location, key: json.key };
  }

  /** A check that runs once a day, or when triggered. @returns its id */
  async addCheck(
    { location }: AgentKey,
    type: string,
    request: object,
    fields: object = {},
  ): Promise<string> {
    const common = { name: `${type} in ${location}`, frequency: 1440 };
    const body = { ...common, privateLocations: [location], request, ...fields };
    const { json } = await this.ask(`/v1/checks/${type}`, { method: 'POST', body });
    return json.id;
  }

  async runNow(checkId: string): Promise<void> {
    await this.ask(`/v1/checks/${checkId}/run`, { method: 'POST' });
  }

  /** Starts an agent by a command of the README, and waits until it is ready. */
  async startAgent(
    { key }: AgentKey,
    command = 'docker-run-agent',
    edit?: (text: string) => string,
  ): Promise<Container> {
    const env = { SERVICE_URL: `http://vedette:${SERVICE_PORT}`, API_KEY: key };
    await this.command(command, env, edit === undefined ? {} : { edit });
    const agent = this.host.container('vedette-agent');
    await this.agentIs('/-/readiness', ({ status }) => status === 200);
    return agent;
  }

  /** Polls the agent's health port until the answer is as wanted, also while nothing listens. */
  agentIs(path: string, wanted: (reply: Reply) => boolean): Promise<Reply> {
    return this.#answers(AGENT_PORT, path, wanted);
  }

  async serviceIsReady(): Promise<void> {
    await this.#answers(SERVICE_PORT, '/-/readiness', ({ status }) => status === 200);
  }

  /** Waits until the agent has delivered this many records since its start. */
  async delivered(records: number): Promise<void> {
    const isDone = ({ text }: Reply): boolean => {
      const uploaded = Number(/^vedette_uploaded_total (\d+)/m.exec(text)?.[1] ?? 0);
      return uploaded >= records && /^vedette_spool_records 0$/m.test(text);
    };
    await this.agentIs('/metrics', isDone);
  }

  /** Removes the agent and its data. */
  async removeAgent(): Promise<void> {
    await this.host.tryPodman('rm', '--force', '--time', '5', 'vedette-agent');
    await this.host.tryPodman('volume', 'rm', '--force', 'vedette-agent');
  }

  /** Sends a request to the targets. */
  async targets(path: string): Promise<string> {
    return (await requestThrough(await this.host.forwardPort(TARGETS_PORT), path)).text;
  }

  async #answers(port: number, path: string, wanted: (reply: Reply) => boolean): Promise<Reply> {
    const socketPath = await this.host.forwardPort(port);
    const ask = (): Promise<Reply> => requestThrough(socketPath, path).catch(() => NO_REPLY);
    return until(ask, wanted);
  }

  close(): Promise<void> {
    return this.host.close();
  }
}
