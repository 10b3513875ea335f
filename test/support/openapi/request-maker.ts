import fc from 'fast-check';
import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './document.ts';
import { type HintParts, hintFor } from './field-hints.ts';
import { arbitraryOf } from './json-arbitrary.ts';
import { homeOf, type IdPath, type KnownIds } from './known-ids.ts';

export interface MadeRequest {
  readonly operation: Operation;
  readonly path: string;
  /** The values of the parameters of the path. */
  readonly ids: IdPath;
  readonly body: string | null;
}

/**
 * Styles of bodies, chosen with equal probability: percentages of invalid values and of optional
 * fields that are present. Most values are valid, and half of the valid bodies are small: the more
 * fields there are, the more of them contradict each other.
 */
const WAYS = [
  { nastiness: 0, presence: 0 },
  { nastiness: 0, presence: 8 },
  { nastiness: 0, presence: 8 },
  { nastiness: 0, presence: 50 },
  { nastiness: 5, presence: 20 },
  { nastiness: 30, presence: 50 },
] as const;

/** Valid values for paths whose own schema accepts any field. */
const SAME_BODY: Readonly<Record<string, string>> = { '/v1/checks/{id}': '/v1/checks/url/{id}' };

/**
 * Makes random requests, the same ones for the same seed and responses. Uses ids of earlier
 * responses, so that most requests address existing resources.
 */
export class RequestMaker {
  readonly known: KnownIds;
  readonly #document: OpenApiDocument;
  readonly #operations: readonly Operation[];
  readonly #hints: HintParts;
  readonly #random: () => number;
  /** Cached: creating an arbitrary takes longer than drawing from it. */
  readonly #arbitraries = new Map<string, fc.Arbitrary<unknown>>();
  #seed: number;

  constructor(
    document: OpenApiDocument,
    operations: readonly Operation[],
    hints: HintParts,
    seed: number,
  ) {
    this.known = hints.known;
    this.#document = document;
    this.#operations = operations;
    this.#hints = hints;
    this.#seed = seed;
    this.#random = randomOf(seed);
  }

  next(): MadeRequest {
    const operation = this.#pick(this.#operations);
    const ids = this.#idsFor(operation);
    const left = [...ids];
    const path = operation.path.replaceAll(/\{\w+\}/g, () =>
      encodeURIComponent(left.shift() ?? ''),
    );
    const query = new URLSearchParams();
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in !== 'query') continue;
      if (parameter.required !== true && this.#random() < 0.8) continue;
      for (const value of this.#queryValues(operation, parameter)) {
        query.append(parameter.name, value);
      }
    }
    const asked = query.toString();
    return {
      operation,
      ids,
      path: asked === '' ? path : `${path}?${asked}`,
      body: this.#bodyFor(operation, ids),
    };
  }

  /** A number from 0 up to the limit, exclusive. */
  number(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  draw<T>(arbitrary: fc.Arbitrary<T>): T {
    this.#seed += 1;
    // Otherwise the first value of each arbitrary would be one of its smallest.
    const [value] = fc.sample(fc.noBias(arbitrary), { numRuns: 1, seed: this.#seed });
    return value as T;
  }

  #bodyFor(operation: Operation, ids: IdPath): string | null {
    const { body } = this.#operationAt(SAME_BODY[operation.path], operation) ?? operation;
    if (body === null || this.#random() < 0.01) return null;
    const way = this.#pick(WAYS);
    const key = `${operation.name} ${WAYS.indexOf(way)}`;
    const made = this.draw(this.#arbitrary(key, operation, body, way));
    return JSON.stringify(way.nastiness === 0 ? withIdOf(made, operation, ids.at(-1)) : made);
  }

  #operationAt(path: string | undefined, { method }: Operation): Operation | undefined {
    return this.#operations.find((each) => each.path === path && each.method === method);
  }

  #idsFor(operation: Operation): IdPath {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const known = this.known.paths(homeOf(operation.path));
    if (known.length > 0 && this.#random() < 0.9) {
      const path = this.#pick(known);
      if (path.length === names.length) return path;
    }
    return names.map((name) => {
      const parameter = (operation.parameters ?? []).find((each) => each.name === name);
      return this.#pathValue(operation, parameter, name);
    });
  }

  #pathValue(operation: Operation, parameter: Parameter | undefined, name: string): string {
    const home = operation.path.slice(0, operation.path.indexOf(`/{${name}}`));
    const known = this.known.ids(home);
    if (known.length > 0 && this.#random() < 0.6) return this.#pick(known);
    const schema = parameter?.schema ?? {};
    const way = { nastiness: 20, presence: 50 };
    const value = this.draw(this.#arbitrary(`${operation.name} {${name}}`, operation, schema, way));
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    // An empty segment makes another path.
    return text === '' ? 'empty' : text.toWellFormed().slice(0, 500);
  }

  #queryValues(operation: Operation, { name, schema = {} }: Parameter): readonly string[] {
    const way = { nastiness: 5, presence: 50 };
    const object = { type: 'object', properties: { [name]: schema }, required: [name] } as const;
    const key = `${operation.name}?${name}`;
    const drawn = this.draw(this.#arbitrary(key, operation, object, way));
    const value = typeof drawn === 'object' && drawn !== null ? Reflect.get(drawn, name) : drawn;
    return [value]
      .flat()
      .map((each) =>
        (typeof each === 'object' ? JSON.stringify(each) : String(each)).toWellFormed(),
      );
  }

  #arbitrary(
    key: string,
    { path }: Operation,
    schema: JsonSchema,
    way: { readonly nastiness: number; readonly presence: number },
  ): fc.Arbitrary<unknown> {
    const known = this.#arbitraries.get(key);
    if (known !== undefined) return known;
    const fieldOf = (name: string) => hintFor(path, name, this.#hints);
    const made = arbitraryOf(this.#document, schema, { ...way, fieldOf });
    this.#arbitraries.set(key, made);
    return made;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.number(items.length)] as T;
  }
}

/** Repeats the path's values in the body of an update. */
function withIdOf(body: unknown, { method }: Operation, id: string | undefined): unknown {
  const isUpdate = method === 'PUT' || method === 'PATCH';
  if (!isUpdate || id === undefined || typeof body !== 'object' || body === null) return body;
  const given = body as Readonly<Record<string, unknown>>;
  return {
    ...given,
    ...('id' in given ? { id: typeof given.id === 'number' ? Number(id) : id } : {}),
    ...('key' in given && !('cert' in given) ? { key: id } : {}),
  };
}

/** Numbers in [0, 1) from the seed: a linear congruential generator (Numerical Recipes). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
