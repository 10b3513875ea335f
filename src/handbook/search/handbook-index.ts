import { nearestName } from '../../runtime/text/nearest-name.ts';
import type { DocumentSection, Handbook } from '../handbook.ts';
import { type Block, plainText, type TableRow } from '../markdown.ts';
import type { Topic } from '../topics.ts';
import { type ExcerptPart, excerptOf } from './excerpt.ts';
import { countWords, queryWords, stemOf } from './words.ts';

/** Longer queries are cut. */
export const MAX_QUERY_CHARS = 200;
const MAX_WORDS = 8;
const MAX_HITS = 20;
/** The weight of a word in the title of a section or topic, and in a name that a row defines. */
const TITLE_WEIGHT = 6;
const NAME_WEIGHT = 10;
/** The weight of a word that only begins with the searched word. */
const PREFIX_WEIGHT = 0.4;
const SHORTEST_PREFIX = 2;

export interface Hit {
  readonly topic: Topic;
  /** The title of the section, or the name that a row of a table defines. */
  readonly title: string;
  readonly anchor: string;
  readonly excerpt: readonly ExcerptPart[];
}

export interface SearchResult {
  /** The best hit of each section, best first. */
  readonly hits: readonly Hit[];
  /** Whether each hit has all words of the query. */
  readonly hasAll: boolean;
  /** The query with each word that no section has replaced by the nearest word; null if there is none. */
  readonly nearest: string | null;
  /** Whether a part of the query was left out. */
  readonly cut: boolean;
}

/** A paragraph, an item or a row: the unit that an excerpt shows. */
interface Passage {
  readonly text: string;
  /** The name that a row defines. */
  readonly name: string | null;
  readonly anchor: string | null;
}

interface Entry {
  readonly topic: Topic;
  readonly section: DocumentSection;
  readonly passages: readonly Passage[];
}

/** A word in a passage of a section, or in its title (null). */
interface Posting {
  readonly entry: Entry;
  readonly passage: Passage | null;
  readonly count: number;
}

/** A full-text index over the sections of the handbook. */
export class HandbookIndex {
  readonly #size: number;
  readonly #postings = new Map<string, Posting[]>();
  readonly #stems = new Map<string, string>();

  constructor({ pages }: Handbook) {
    const entries = pages.flatMap(({ topic, sections }) =>
      sections.map((section) => ({ topic, section, passages: section.blocks.flatMap(passagesOf) })),
    );
    this.#size = entries.length;
    for (const entry of entries) {
      const { topic, section, passages } = entry;
      this.#add(entry, null, `${section.title} ${topic.title} ${topic.name}`);
      for (const passage of passages) this.#add(entry, passage, passage.text);
    }
  }

  #add(entry: Entry, passage: Passage | null, text: string): void {
    for (const [word, count] of countWords(text)) {
      const postings = this.#postings.get(word) ?? [];
      if (postings.length === 0) {
        this.#postings.set(word, postings);
        this.#stems.set(word, stemOf(word));
      }
      postings.push({ entry, passage, count });
    }
  }

  search(query: string): SearchResult {
    const given = queryWords(query.slice(0, MAX_QUERY_CHARS));
    const terms = given.slice(0, MAX_WORDS).map((word) => this.#termOf(word));
    const scores = new Map<Entry, Score>();
    for (const term of terms) this.#score(term, scores);
    const scored = [...scores.values()];
    const complete = scored.filter(({ matched }) => matched === terms.length);
    const best = (complete.length > 0 ? complete : scored)
      .sort((one, other) => other.matched - one.matched || totalOf(other) - totalOf(one))
      .slice(0, MAX_HITS);
    return {
      hits: best.map((score) => hitOf(score, terms)),
      hasAll: complete.length > 0,
      nearest: this.#nearest(terms),
      cut: query.length > MAX_QUERY_CHARS || given.length > MAX_WORDS,
    };
  }

  /** The words of the index that a searched word stands for, each with its weight. */
  #termOf(word: string): Term {
    const stem = stemOf(word);
    const forms = new Map<string, number>();
    for (const [known, { length }] of this.#postings) {
      const rarity = Math.log(1 + this.#size / length);
      if (this.#stems.get(known) === stem) forms.set(known, rarity);
      else if (word.length >= SHORTEST_PREFIX && known.startsWith(word)) {
        forms.set(known, rarity * PREFIX_WEIGHT);
      }
    }
    return { word, forms };
  }

  /** Counts in each section the best form of the term in its title, and the best in its text. */
  #score({ word, forms }: Term, scores: Map<Entry, Score>): void {
    const found = new Map<Entry, { title: number; text: number }>();
    for (const [form, weight] of forms) {
      for (const { entry, passage, count } of this.#postings.get(form) ?? []) {
        const score = scores.get(entry) ?? newScore(entry);
        scores.set(entry, score);
        const best = found.get(entry) ?? { title: 0, text: 0 };
        found.set(entry, best);
        if (passage === null) {
          best.title = Math.max(best.title, weight * TITLE_WEIGHT);
        } else {
          const isName = passage.name?.toLowerCase() === word;
          const value = weight * (isName ? NAME_WEIGHT : 1 + Math.log(count));
          best.text = Math.max(best.text, value);
          score.passages.set(passage, (score.passages.get(passage) ?? 0) + value);
        }
      }
    }
    for (const [entry, { title, text }] of found) {
      const score = scores.get(entry);
      if (score === undefined) continue;
      score.matched += 1;
      score.inTitle ||= title > 0;
      score.sum += title + text;
    }
  }

  #nearest(terms: readonly Term[]): string | null {
    if (terms.every(({ forms }) => forms.size > 0)) return null;
    const known = [...this.#postings.keys()].filter(({ length }) => length > 2);
    const words = terms.map(({ word, forms }) =>
      forms.size > 0 ? word : nearestName(word, known),
    );
    return words.includes(null) ? null : words.join(' ');
  }
}

interface Term {
  readonly word: string;
  readonly forms: ReadonlyMap<string, number>;
}

interface Score {
  readonly entry: Entry;
  /** The number of terms that the section has. */
  matched: number;
  inTitle: boolean;
  sum: number;
  readonly passages: Map<Passage, number>;
}

function newScore(entry: Entry): Score {
  return { entry, matched: 0, inTitle: false, sum: 0, passages: new Map() };
}

/** A section with all words in one passage comes before one that has them in several passages. */
function totalOf({ sum, passages }: Score): number {
  return sum + Math.max(0, ...passages.values());
}

/** Links to a row of a table if the words are in its name, or not in the title of the section. */
function hitOf({ entry, passages, inTitle }: Score, terms: readonly Term[]): Hit {
  const { topic, section } = entry;
  const [best] = [...passages].sort(([, one], [, other]) => other - one);
  const passage = best?.[0] ?? entry.passages[0];
  const isNamed = terms.some(({ word }) => passage?.name?.toLowerCase() === word);
  return {
    topic,
    title: isNamed ? (passage?.name ?? section.title) : section.title,
    anchor: (isNamed || !inTitle ? best?.[0].anchor : null) ?? section.anchor,
    excerpt: excerptOf(
      passage?.text ?? '',
      new Set(terms.flatMap((term) => [...term.forms.keys()])),
    ),
  };
}

function passagesOf(block: Block): readonly Passage[] {
  switch (block.kind) {
    case 'paragraph':
      return [passage(plainText(block.inlines))];
    case 'code':
      return [passage(block.text.replaceAll(/\s+/g, ' '))];
    case 'quote':
      return block.blocks.flatMap(passagesOf);
    case 'list':
      return block.items.flatMap((item) => item.flatMap(passagesOf));
    case 'table':
      return block.rows.map(rowPassage);
  }
}

function rowPassage({ cells, anchor }: TableRow): Passage {
  const [first = [], ...others] = cells;
  const name = plainText(first);
  const rest = others.map(plainText).filter((text) => text !== '' && text !== '–');
  return passage(`${name}: ${rest.join(' · ')}`, anchor === null ? null : name, anchor);
}

function passage(text: string, name: string | null = null, anchor: string | null = null): Passage {
  return { text, name, anchor };
}
