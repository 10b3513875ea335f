import { trimForWire } from '../../agent/output/trim-for-wire.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import {
  MAX_SESSION_MISSED,
  MAX_SESSION_REQUEST_BYTES,
  MAX_SESSION_REQUEST_RESULTS,
  MAX_SESSION_RESULTS,
  type TestSessionFacts,
} from '../../model/result/test-session.ts';

/** Maximum number of bytes of results that are kept until the run is over. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
/** Bytes reserved for what surrounds the results. */
const ENVELOPE_BYTES = 16 * 1024;

type List = 'results' | 'missed';
interface ReportItem {
  readonly list: List;
  readonly json: Buffer;
}

/**
 * Collects the results of a run for the requests that send them to a service. The requests contain exactly what
 * `--output json` prints; texts that are longer than the service accepts are cut.
 */
export class SessionReport {
  readonly #id: string;
  readonly #facts: TestSessionFacts;
  readonly #items: ReportItem[] = [];
  readonly #counts: Record<List, number> = { results: 0, missed: 0 };
  #bytes = 0;
  #leftOut = 0;

  /** @param id of the session: a UUID */
  constructor(id: string, facts: TestSessionFacts) {
    this.#id = id;
    this.#facts = facts;
  }

  get results(): number {
    return this.#counts.results;
  }

  /** Results that did not fit, or that no service would accept. */
  get leftOut(): number {
    return this.#leftOut;
  }

  result(result: CheckResult): void {
    const { body, isValid } = trimForWire(result);
    const isFull = this.#counts.results >= MAX_SESSION_RESULTS;
    if (isValid && !isFull) this.#add({ list: 'results', json: withoutProto(body) });
    else this.#leftOut += 1;
  }

  missed(missed: MissedSlots): void {
    if (this.#counts.missed >= MAX_SESSION_MISSED) this.#leftOut += 1;
    else this.#add({ list: 'missed', json: Buffer.from(JSON.stringify(missed)) });
  }

  #add(item: ReportItem): void {
    if (this.#bytes + item.json.length > MAX_WAITING_BYTES) {
      this.#leftOut += 1;
      return;
    }
    this.#bytes += item.json.length;
    this.#counts[item.list] += 1;
    this.#items.push(item);
  }

  /** JSON bodies, at least one, none larger than the service accepts. */
  *requests(): Generator<Buffer> {
    let items: ReportItem[] = [];
    let bytes = ENVELOPE_BYTES;
    for (const item of this.#items) {
      const isFull = items.length === MAX_SESSION_REQUEST_RESULTS;
      if (isFull || bytes + item.json.length + 1 > MAX_SESSION_REQUEST_BYTES) {
        yield this.#request(items);
        items = [];
        bytes = ENVELOPE_BYTES;
      }
      items.push(item);
      bytes += item.json.length + 1;
    }
    yield this.#request(items);
  }

  #request(items: readonly ReportItem[]): Buffer {
    const list = (name: List): readonly Buffer[] =>
      items
        .filter((item) => item.list === name)
        .flatMap(({ json }, at) => (at === 0 ? [json] : [COMMA, json]));
    const start = JSON.stringify({ id: this.#id, ...this.#facts }).slice(0, -1);
    return Buffer.concat([
      Buffer.from(`${start},"results":[`),
      ...list('results'),
      Buffer.from('],"missed":['),
      ...list('missed'),
      Buffer.from(']}'),
    ]);
  }
}

const COMMA = Buffer.from(',');
const PROTO = '__proto__';

/** Removes the key `__proto__`: a target may use it as header name, and the service refuses a body with it. */
function withoutProto(json: Buffer): Buffer {
  if (!json.includes(PROTO)) return json;
  const value = JSON.parse(json.toString(), (key, inner) => (key === PROTO ? undefined : inner));
  return Buffer.from(JSON.stringify(value));
}
