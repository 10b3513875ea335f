import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { KubernetesObject } from './objects.ts';

interface ValidationError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: unknown;
}

/** A validator that ajv compiled from Kubernetes' published schema of a kind. */
interface Validator {
  (value: unknown): boolean;
  errors?: readonly ValidationError[] | null;
}

const require = createRequire(import.meta.url);

/**
 * Violations of the published schema of the object's kind, one line each. Unknown fields are
 * violations, as for `kubectl apply` and a strict server.
 */
export function schemaProblems(object: KubernetesObject): readonly string[] {
  const { kind, metadata } = object;
  const title = `${kind} ${metadata.name}`;
  const validate = validatorOf(object);
  const read = new Set<string>();
  const problems = validate(recording(object, '', read))
    ? []
    : (validate.errors ?? []).map((error) => `${title}${error.instancePath}: ${whatOf(error)}`);
  // A validator reads the values of known fields only.
  const unknown = pathsOf(object, '').filter((path) => !read.has(path) && read.has(parentOf(path)));
  return [...problems, ...unknown.map((path) => `${title}${path}: no field of the schema`)];
}

/** These errors have no messages. */
function whatOf({ keyword, params }: ValidationError): string {
  return `${keyword} ${JSON.stringify(params)}`;
}

function validatorOf({ apiVersion, kind }: KubernetesObject): Validator {
  const [version = '', group = 'core'] = apiVersion.split('/').reverse();
  const [first = '', ...others] = group.split('.');
  return group === 'monitoring.coreos.com'
    ? schemaBeside(require.resolve('@kubernetes-models/prometheus-operator/package.json'), [
        first,
        ...others,
        version,
        kind,
      ])
    : schemaBeside(require.resolve('kubernetes-models/package.json'), [
        'io',
        'k8s',
        'api',
        first,
        version,
        kind,
      ]);
}

function schemaBeside(packageFile: string, words: readonly string[]): Validator {
  const file = join(dirname(packageFile), '_schemas', `${words.map(capital).join('')}.js`);
  return (require(file) as { validate: Validator }).validate;
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

/** A proxy of the value that records the path of every read. */
function recording(value: unknown, path: string, read: Set<string>): unknown {
  read.add(path);
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key, receiver) {
      const child: unknown = Reflect.get(target, key, receiver);
      if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return child;
      return recording(child, `${path}/${key}`, read);
    },
  });
}

function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    `${path}/${key}`,
    ...pathsOf(child, `${path}/${key}`),
  ]);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
