import { createHandbook, type Handbook } from '../../src/handbook/handbook.ts';
import type { Topic } from '../../src/handbook/topics.ts';

/** A topic of `GUIDE.md` by default. */
export function topicOf(
  name: string,
  headings: readonly string[],
  more: Partial<Topic> = {},
): Topic {
  const title = headings[0] ?? name;
  return { name, title, summary: `about ${name}`, document: 'GUIDE.md', headings, ...more };
}

/** A handbook of one document, `GUIDE.md`. */
export function handbookOf(text: string, topics: readonly Topic[]): Handbook {
  return createHandbook(new Map([['GUIDE.md', text]]), topics);
}
