import { nearestName } from '../runtime/text/nearest-name.ts';
import { TOPICS, type Topic } from './topics.ts';

const MAX_TOPICS = 3;

/** The topics that were most likely meant, best first: by their names, titles and summaries. */
export function nearestTopics(given: string, topics: readonly Topic[] = TOPICS): readonly Topic[] {
  const found: Topic[] = [];
  const words = given.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const [folded] = [words.filter((word) => word !== '').join('-')];
  const near = (word: string): void => {
    const rest = topics.filter((topic) => !found.includes(topic));
    const name = nearestName(
      word,
      rest.map((topic) => topic.name),
    );
    const topic = rest.find((each) => each.name === name);
    if (topic !== undefined) found.push(topic);
  };
  near(folded ?? '');
  for (const word of words.filter(({ length }) => length > 2)) {
    near(word);
    found.push(
      ...topics.filter(
        (topic) =>
          !found.includes(topic) &&
          `${topic.name} ${topic.title} ${topic.summary}`.toLowerCase().includes(word),
      ),
    );
  }
  return found.slice(0, MAX_TOPICS);
}
