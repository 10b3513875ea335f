import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { ChoicesError } from '../error-state.tsx';
import { SelectField } from '../field.tsx';

const SHOWN = 100;

/** Chooses a snippet of the account. */
export function SnippetField({
  label,
  id,
  problem,
  onId,
}: {
  readonly label: string;
  /** null for none. */
  readonly id: number | null;
  readonly problem: string | null;
  readonly onId: (id: number | null) => void;
}) {
  const query = useQuery(
    'snippets to choose',
    (signal) => bodyOf(api.GET('/v1/snippets', { params: { query: { limit: SHOWN } }, signal })),
    { on: [] },
  );
  const known = (query.data.value ?? []).map((each) => ({
    value: String(each.id),
    label: each.name,
  }));
  const isKnown = id === null || known.some(({ value }) => value === String(id));
  return (
    <>
      <SelectField
        label={label}
        value={id === null ? '' : String(id)}
        options={[
          { value: '', label: 'none' },
          ...(isKnown ? [] : [{ value: String(id), label: `snippet ${id}` }]),
          ...known,
        ]}
        problem={problem}
        onValue={(next) => onId(next === '' ? null : Number(next))}
      />
      <ChoicesError what="snippets" error={query.error.value} retry={query.reload} />
    </>
  );
}
