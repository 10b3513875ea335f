import { useId, useState } from 'preact/hooks';
import { api, pageOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { count, counted, totalText } from '../../parts/formats.ts';

type CheckType = NonNullable<
  NonNullable<operations['listCheckStatuses']['parameters']['query']>['type']
>[number];

/** The most checks to show; the search finds the others. */
const SHOWN = 50;

/** A choice of checks with a search. Chosen checks stay during further searches. */
export function CheckChoice({
  legend,
  types,
  chosen,
  onValue,
}: {
  readonly legend: string;
  readonly types: readonly CheckType[];
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onValue: (chosen: readonly string[]) => void;
}) {
  const id = useId();
  const [search, setSearch] = useState('');
  /** The names of checks that were found before: a response contains only the matching ones. */
  const [names] = useState(() => new Map<string, string>());
  const text = search.trim();
  const query = useQuery(`checks to choose ${types.join()} ${text}`, (signal) =>
    pageOf(
      api.GET('/v1/check-statuses', {
        params: {
          query: {
            type: [...types],
            sort: 'name',
            limit: SHOWN,
            ...(text === '' ? {} : { search: text }),
          },
        },
        signal,
      }),
    ),
  );
  const found = query.data.value;
  const error = query.error.value;
  for (const { checkId, name } of found?.entries ?? []) names.set(checkId, name);
  const others = (found?.entries ?? []).filter(({ checkId }) => !chosen.includes(checkId));
  const rows = [...chosen, ...others.map(({ checkId }) => checkId)];
  const total = found?.total ?? 0;
  return (
    <fieldset class="status-pages-choice">
      <legend>
        {legend} <span class="muted">{chosen.length === 0 ? 'none' : count(chosen.length)}</span>
      </legend>
      <input
        type="search"
        aria-label={`Search: ${legend}`}
        aria-describedby={id}
        placeholder="Search by name"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <ul>
        {rows.map((checkId) => (
          <li key={checkId}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(checkId)}
                onChange={(event) =>
                  onValue(
                    event.currentTarget.checked
                      ? [...chosen, checkId]
                      : chosen.filter((each) => each !== checkId),
                  )
                }
              />
              <span>{names.get(checkId) ?? checkId}</span>
            </label>
          </li>
        ))}
      </ul>
      <p class="hint" id={id} role="status">
        {error !== null
          ? error.message
          : found === null
            ? 'Loading…'
            : total > found.entries.length
              ? `${totalText(total, found.isAtLeast)} matches, the first ${SHOWN} are shown.`
              : total === 0
                ? text === ''
                  ? 'There are none yet.'
                  : 'None has this text in its name.'
                : counted(total, 'match', 'matches')}
      </p>
    </fieldset>
  );
}
