import { isFields } from '../../model/credentials/credential-fields.ts';

/**
 * Sorts the keys of a value like those of a model, at every depth: the order of keys in stored JSON is
 * arbitrary. Keys that the model does not have come last.
 *
 * @param model the same value as its schema returned it
 */
export function inOrderOf(value: unknown, model: unknown): unknown {
  if (Array.isArray(value)) {
    const models: readonly unknown[] = Array.isArray(model) ? model : [];
    return value.map((each: unknown, index) => inOrderOf(each, models[index]));
  }
  if (!isFields(value)) return value;
  const shape: Readonly<Record<string, unknown>> = isFields(model) ? model : {};
  const known = Object.keys(shape).filter((key) => Object.hasOwn(value, key));
  const others = Object.keys(value)
    .filter((key) => !Object.hasOwn(shape, key))
    .sort((one, other) => (one < other ? -1 : 1));
  return Object.fromEntries(
    [...known, ...others].map((key) => [key, inOrderOf(value[key], shape[key])]),
  );
}
