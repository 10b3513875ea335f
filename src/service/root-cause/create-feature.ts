import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { sendLimitMs } from './llm/chat-client.ts';
import { createOpenAiProvider, type OpenAiParts } from './llm/openai.ts';
import {
  createRootCauseAnalyses,
  type RootCauseAnalyses,
  type RootCauseParts,
} from './root-cause-analyses.ts';
import type { RootCauseConfig } from './root-cause-config.ts';

export interface ConfiguredParts extends Omit<RootCauseParts, 'model'> {
  readonly rootCause: RootCauseConfig;
  readonly secretsOf: NonNullable<OpenAiParts['secretsOf']>;
  /** Default: none. */
  readonly proxies?: Proxies;
}

/** With the configured model, or only the rules. */
export function createConfiguredAnalyses(parts: ConfiguredParts): RootCauseAnalyses {
  const config = parts.rootCause.model;
  if (config === null) return createRootCauseAnalyses(parts);
  return createRootCauseAnalyses({
    ...parts,
    model: createOpenAiProvider({ ...parts, config }),
    modelLimitMs: sendLimitMs(config),
    dailyLimit: config.dailyLimit,
  });
}
