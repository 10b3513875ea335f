import { nearestName } from '../runtime/text/nearest-name.ts';
import { TOPICS, type Topic } from './topics.ts';

const MAX_TOPICS = 3;
const SHORTEST_WORD = 3;

/** The topics that were most likely meant, best first: by their names, then titles and summaries. */
export function nearestTopics(given: string): readonly Topic[] {
  const words = given.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const long = words.filter(({ length }) => length >= SHORTEST_WORD);
  const byName = [words.join('-'), ...long].map((word) => {
    const name = nearestName(
      word,
      TOPICS.map((topic) => topic.name),
    );
    return TOPICS.filter((topic) => topic.name === name);
  });
  const byText = long.map((word) =>
    TOPICS.filter(({ title, summary }) => `${title} ${summary}`.toLowerCase().includes(word)),
  );
  return [...new Set([...byName, ...byText].flat())].slice(0, MAX_TOPICS);
}
