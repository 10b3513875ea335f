import { z } from 'zod';

const addressed = z.looseObject({ address: z.string() });
const linked = z.looseObject({ url: z.string() });
const named = z.looseObject({ name: z.string() });

/**
 * The name of a channel for people: the address of an email channel, the host of a Slack channel,
 * the `name` of all others.
 *
 * @param config as the API or a check file has it
 * @returns null for a channel that this release does not know
 */
export function channelNameOf({
  type,
  config,
}: {
  readonly type?: unknown;
  readonly config?: unknown;
}): string | null {
  if (type === 'EMAIL') return addressed.safeParse(config).data?.address ?? null;
  if (type !== 'SLACK') return named.safeParse(config).data?.name ?? null;
  const url = linked.safeParse(config).data?.url ?? '';
  return URL.canParse(url) ? new URL(url).host : null;
}
