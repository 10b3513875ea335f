import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { FieldProblem } from '../../api/errors.ts';
import { problemOf } from '../../parts/field.tsx';
import type { CheckType } from '../check/model.ts';
import type { Draft } from './draft.ts';

/** The state that every part of the form reads and changes. */
export interface CheckForm {
  readonly type: CheckType;
  readonly draft: Draft;
  readonly problems: readonly FieldProblem[];
  /** The id of the check; null while it is new. */
  readonly id: string | null;
  /** Sets the value at a path, undefined for none. */
  readonly change: (path: string, value: unknown) => void;
}

export const CheckFormContext = createContext<CheckForm | null>(null);

export function useCheckForm(): CheckForm & { problemAt(path: string): string | null } {
  const form = useContext(CheckFormContext);
  if (form === null) throw new Error('a field of a check stands outside the form');
  return { ...form, problemAt: (path) => problemOf(form.problems, path) };
}
