import { CHECK_FEATURE_NAMES } from '../../../src/model/check/check-features.ts';
import type { Agents } from '../../../src/service/agents/agents.ts';
import type { AgentCaller } from '../../../src/service/private-locations/location-keys.ts';
import type { AssignmentMessage } from '../../../src/wire/v1/assignment.ts';
import {
  type PollRequest,
  type PollResponse,
  pollRequestSchema,
  pollResponseSchema,
} from '../../../src/wire/v1/poll.ts';

/** In code unit order, independent of the database's collation. */
export function sorted(texts: Iterable<string>): readonly string[] {
  return [...texts].sort((one, other) => (one < other ? -1 : 1));
}

export interface PollingAgentFields {
  readonly instanceId?: string;
  readonly concurrency?: number;
  readonly capabilities?: Partial<PollRequest['capabilities']>;
}

/** An agent's side of the protocol: polls, and saves its assignments. */
export class PollingAgent {
  readonly id: string;
  readonly #agents: Pick<Agents, 'poll' | 'release'>;
  readonly #caller: AgentCaller;
  #fields: PollingAgentFields;
  readonly checks = new Map<string, AssignmentMessage>();
  epoch = 0;
  revision = 0;
  done: readonly string[] = [];
  refused: PollRequest['refused'] = [];

  constructor(
    agents: Pick<Agents, 'poll' | 'release'>,
    caller: AgentCaller,
    id: string,
    fields: PollingAgentFields = {},
  ) {
    this.id = id;
    this.#agents = agents;
    this.#caller = caller;
    this.#fields = fields;
  }

  become(fields: PollingAgentFields): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** The ids of the checks that it would run now. */
  get ids(): readonly string[] {
    return sorted(this.checks.keys());
  }

  request(fields: Partial<PollRequest> = {}): PollRequest {
    const { instanceId = `${this.id}-1`, concurrency = 100, capabilities = {} } = this.#fields;
    return pollRequestSchema.parse({
      agentId: this.id,
      instanceId,
      version: '1.2.3',
      capabilities: {
        types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
        ipv6: true,
        icmp: true,
        capture: false,
        features: [...CHECK_FEATURE_NAMES],
        ...capabilities,
      },
      concurrency,
      load: { running: 1, queued: 2 },
      revision: this.revision,
      epoch: this.epoch,
      done: this.done,
      refused: this.refused,
      ...fields,
    });
  }

  /** The current changes, without holding the poll. */
  look(): Promise<PollResponse> {
    return this.poll(AbortSignal.abort());
  }

  /** One poll with all pages of its response; returns the first page. */
  async poll(signal: AbortSignal = new AbortController().signal): Promise<PollResponse> {
    const first = await this.ask({}, signal);
    if (first.full) this.checks.clear();
    let answer = first;
    for (;;) {
      for (const id of answer.remove) this.checks.delete(id);
      for (const one of answer.upsert) this.checks.set(one.checkId, one);
      this.epoch = answer.epoch;
      if (answer.nextPage === null) break;
      answer = await this.ask({ page: answer.nextPage }, signal);
    }
    this.revision = answer.revision;
    return first;
  }

  /** One response in wire format, without applying it. */
  async ask(
    fields: Partial<PollRequest> = {},
    signal: AbortSignal = AbortSignal.abort(),
  ): Promise<PollResponse> {
    const answer = await this.#agents.poll(this.#caller, this.request(fields), signal);
    return pollResponseSchema.parse(JSON.parse(JSON.stringify(answer)));
  }

  async release(): Promise<boolean> {
    const { id: agentId, epoch, done } = this;
    const message = { agentId, epoch, done: [...done] };
    return (await this.#agents.release(this.#caller, message)).released;
  }
}
