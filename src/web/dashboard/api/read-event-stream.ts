/** A change of the account: src/service/README.md, "Events". */
export interface LiveEvent {
  /** For example `check.updated`. */
  readonly kind: string;
  readonly resourceId: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads server-sent events (HTML Standard, 9.2.6), as the service sends them: lines end with LF. */
export class EventStreamReader {
  readonly #onEvent: (event: LiveEvent) => void;
  #rest = '';
  #data = '';
  #id: string | null = null;

  constructor(onEvent: (event: LiveEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** The id of the last complete event; null before the first one. */
  lastId: string | null = null;

  /** To be called when the stream starts again. */
  forget(): void {
    this.lastId = null;
    this.#rest = '';
    this.#data = '';
    this.#id = null;
  }

  read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') {
      this.#end();
      return;
    }
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('id:')) this.#id = value;
    if (line.startsWith('data:')) this.#data += value;
  }

  #end(): void {
    if (this.#id !== null) this.lastId = this.#id;
    const data = this.#data;
    this.#data = '';
    if (data !== '') this.#onEvent(JSON.parse(data));
  }
}
