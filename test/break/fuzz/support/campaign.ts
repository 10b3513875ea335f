import { readdirSync, readFileSync } from 'node:fs';
import { leavingNothing } from './responses/guards.ts';
import { type Campaign, runCampaign } from './responses/probe-campaign.ts';

type Folder = 'check-files' | 'protocol';

export interface TextCampaign<Case> extends Omit<Campaign<Case>, 'corpus' | 'mustSee' | 'atOnce'> {
  readonly corpus: Folder;
  readonly mustSee?: readonly string[];
}

/** The campaign of DNS and HTTP for other inputs: one case at a time. */
export function runTextCampaign<Case>(campaign: TextCampaign<Case>): Promise<void> {
  return runCampaign({ mustSee: [], ...campaign, atOnce: 1 });
}

/** Opens the environment of the cases, closes it, and checks for leaks. */
export async function withLane<Lane extends { close(): Promise<void> }>(
  open: () => Promise<Lane>,
  work: (lane: Lane) => Promise<void>,
): Promise<void> {
  await leavingNothing(async () => {
    const lane = await open();
    try {
      await work(lane);
    } finally {
      await lane.close();
    }
  });
}

/** A file of the corpus; `name` describes it. */
export interface CorpusText {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Sorted by name; only names with this prefix. */
export function corpusTexts(corpus: Folder, beginning = ''): readonly CorpusText[] {
  const url = new URL(`../../corpus/${corpus}/`, import.meta.url);
  return readdirSync(url)
    .filter((name) => name.startsWith(beginning))
    .sort()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, url)) }));
}
