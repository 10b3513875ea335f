import type { Readable } from 'node:stream';

/** What a program says in a few lines; of one that says more, the end is kept. */
const MAX_KEPT_CHARACTERS = 4096;
/** In a sentence of the job log. */
const MAX_TOLD_CHARACTERS = 200;

/** What tcpdump says on stderr: that it listens, why it does not, and at its end what it counted. */
export class Words {
  /** Resolves once it says that it listens; never, where it does not. */
  readonly listening: Promise<void>;
  #text = '';

  constructor(stderr: Readable) {
    this.listening = new Promise((resolve) => {
      stderr.setEncoding('utf8').on('data', (text: string) => {
        this.#text = (this.#text + text).slice(-MAX_KEPT_CHARACTERS);
        // Its first bytes on stdout are no such sign: it writes them also where it then gives up.
        if (/^tcpdump[^:]*: listening on /m.test(this.#text)) resolve();
      });
    });
  }

  /** In one line, as far as it belongs into a sentence; empty where it said nothing. */
  get told(): string {
    const lines = this.#text
      .split('\n')
      .filter((line) => !/: (?:data link type|listening on) /.test(line));
    const told = lines.join(' ').replace(/\s+/g, ' ').trim();
    return told.length > MAX_TOLD_CHARACTERS ? `${told.slice(0, MAX_TOLD_CHARACTERS)}…` : told;
  }

  /** What the kernel had no room for; null where it was not said. */
  get dropped(): number | null {
    const count = /^(\d+) packets? dropped by kernel/m.exec(this.#text)?.[1];
    return count === undefined ? null : Number(count);
  }
}
