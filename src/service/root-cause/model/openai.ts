import type { Clock } from '../../../runtime/clock.ts';
import type { RootCauseProvider } from '../provider.ts';
import type { ModelConfig } from '../root-cause-config.ts';
import { buildScrubber } from '../scrub/scrubber.ts';
import { secretsOfCheck } from '../scrub/secrets-of-check.ts';
import { readAnswer } from './answer.ts';
import { briefOf } from './brief.ts';
import { createChatClient } from './chat-client.ts';
import { chatRequestOf } from './prompt.ts';

export interface OpenAiParts {
  readonly config: ModelConfig;
  readonly clock: Clock;
  /** From 0 to under 1. */
  readonly random?: () => number;
  /** The values of an account and of a check that nobody is to know. Where it rejects, nothing is sent. */
  readonly secretsOf?: (accountId: string, checkId: string) => Promise<readonly string[]>;
}

/**
 * Asks a model behind an OpenAI-compatible API. What it is told is scrubbed first of all that is
 * known to be secret or looks like it.
 */
export function createOpenAiProvider(parts: OpenAiParts): RootCauseProvider {
  const { config, clock, secretsOf = async () => [] } = parts;
  const client = createChatClient(config, clock, parts.random);
  return {
    name: 'openai',

    async analyse(file, signal) {
      let secrets: readonly string[];
      try {
        secrets = await secretsOf(file.accountId, file.result.checkId);
      } catch {
        const problem = 'the model was not asked: the secrets of the account could not be read';
        return { ok: false, problem };
      }
      const scrubber = await buildScrubber([...secrets, ...secretsOfCheck(file.check)]);
      const { brief, artifacts } = briefOf(file, scrubber);
      // Two texts that are harmless by themselves may make a secret where they meet.
      if (scrubber.holdsKnown(JSON.stringify(brief))) {
        return { ok: false, problem: 'the model was not asked: a secret could not be taken out' };
      }
      const answer = await client.send(JSON.stringify(chatRequestOf(config.model, brief)), signal);
      if (!answer.ok) return { ok: false, problem: `the model ${answer.problem}` };
      const read = readAnswer(answer.bytes, artifacts);
      if (!read.ok) return { ok: false, problem: `the model was of no use: ${read.problem}` };
      return { ok: true, model: config.model, analysis: read.analysis };
    },

    close: () => client.close(),
  };
}
