import fc from 'fast-check';
import type { OpenApiDocument, Operation, Parameter } from './document.ts';
import { arbitraryOf } from './json-arbitrary.ts';

export interface MadeRequest {
  readonly operation: Operation;
  readonly path: string;
  readonly body: string | null;
}

/** Of 100 values in a body so many are something else; most bodies have none. */
const NASTINESS = [0, 0, 0, 5, 30] as const;

/**
 * Makes requests at random, the same ones for the same seed and the same answers. What answers say
 * of ids is asked for again, so that most requests are about something that exists.
 */
export class RequestMaker {
  readonly #document: OpenApiDocument;
  readonly #operations: readonly Operation[];
  readonly #random: () => number;
  /** Ids by the path under which they were told of. */
  readonly #ids = new Map<string, string[]>();
  #seed: number;

  constructor(document: OpenApiDocument, operations: readonly Operation[], seed: number) {
    this.#document = document;
    this.#operations = operations;
    this.#seed = seed;
    this.#random = randomOf(seed);
  }

  next(): MadeRequest {
    const operation = this.#pick(this.#operations);
    const { parameters = [], body } = operation;
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(this.#pathValue(operation, name)),
    );
    const query = new URLSearchParams();
    for (const parameter of parameters) {
      if (parameter.in !== 'query') continue;
      if (parameter.required !== true && this.#random() < 0.7) continue;
      for (const value of this.#queryValues(parameter)) query.append(parameter.name, value);
    }
    const asked = query.toString();
    const isEmpty = body === null || this.#random() < 0.02;
    return {
      operation,
      path: asked === '' ? path : `${path}?${asked}`,
      body: isEmpty
        ? null
        : JSON.stringify(this.#draw(arbitraryOf(this.#document, body, this.#pick(NASTINESS)))),
    };
  }

  /** What an answer of success told. */
  learn({ operation }: MadeRequest, answer: unknown): void {
    const { path, method } = operation;
    const home = method === 'POST' || Array.isArray(answer) ? path : path.replace(/\/\{\w+\}$/, '');
    for (const item of [answer].flat()) {
      if (typeof item !== 'object' || item === null) continue;
      const { id, key } = item as { id?: unknown; key?: unknown };
      const named = id ?? key;
      if (typeof named !== 'string' && typeof named !== 'number') continue;
      const known = this.#ids.get(home) ?? [];
      if (!known.includes(String(named))) known.push(String(named));
      this.#ids.set(home, known.slice(-20));
    }
  }

  /** An id that somebody knows of already. */
  know(home: string, id: string): void {
    this.#ids.set(home, [...(this.#ids.get(home) ?? []), id]);
  }

  #pathValue(operation: Operation, name: string): string {
    const home = operation.path.slice(0, operation.path.indexOf(`/{${name}}`));
    const known = this.#ids.get(home) ?? this.#ids.get(`{${name}}`) ?? [];
    if (known.length > 0 && this.#random() < 0.8) return this.#pick(known);
    const parameter = (operation.parameters ?? []).find((each) => each.name === name);
    const value = this.#draw(arbitraryOf(this.#document, parameter?.schema ?? {}, 20));
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    // An empty part of a path is another path.
    return text === '' ? 'empty' : text.toWellFormed().slice(0, 500);
  }

  #queryValues({ schema = {} }: Parameter): readonly string[] {
    const value = this.#draw(arbitraryOf(this.#document, schema, 10));
    return [value]
      .flat()
      .map((each) =>
        (typeof each === 'object' ? JSON.stringify(each) : String(each)).toWellFormed(),
      );
  }

  #draw<T>(arbitrary: fc.Arbitrary<T>): T {
    this.#seed += 1;
    // Without it the first value of each arbitrary would be one of its smallest.
    const [value] = fc.sample(fc.noBias(arbitrary), { numRuns: 1, seed: this.#seed });
    return value as T;
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}

/** Numbers in [0, 1) that follow from the seed: a linear congruential generator (Numerical Recipes). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
