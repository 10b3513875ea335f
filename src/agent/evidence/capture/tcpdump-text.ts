import type { Readable } from 'node:stream';

/** Longer output is cut at its beginning. */
const MAX_TEXT_CHARACTERS = 4096;
/** In a sentence of the job log. */
const MAX_SUMMARY_CHARACTERS = 200;

/** The stderr of tcpdump: that it listens or why not, and at its end its counters. */
export class Words {
  /** Resolves once tcpdump listens; otherwise never. */
  readonly listening: Promise<void>;
  #text = '';

  constructor(stderr: Readable) {
    this.listening = new Promise((resolve) => {
      stderr.setEncoding('utf8').on('data', (text: string) => {
        this.#text = (this.#text + text).slice(-MAX_TEXT_CHARACTERS);
        // Its first bytes on stdout prove nothing: tcpdump writes them even if it then fails.
        if (/^tcpdump[^:]*: listening on /m.test(this.#text)) resolve();
      });
    });
  }

  /** In one line, cut to fit a sentence; empty if there is no output. */
  get summary(): string {
    const lines = this.#text
      .split('\n')
      .filter((line) => !/: (?:data link type|listening on) /.test(line));
    const summary = lines.join(' ').replace(/\s+/g, ' ').trim();
    return summary.length > MAX_SUMMARY_CHARACTERS
      ? `${summary.slice(0, MAX_SUMMARY_CHARACTERS)}…`
      : summary;
  }

  /** Packets dropped by the kernel; null if tcpdump did not report it. */
  get dropped(): number | null {
    const count = /^(\d+) packets? dropped by kernel/m.exec(this.#text)?.[1];
    return count === undefined ? null : Number(count);
  }
}
