import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import type { Filter, FilterChoice, ReadChoices } from '../../parts/filter-bar.tsx';
import { GROUP_BY_LABELS, type GroupBy, STATE_LABELS, TYPE_LABELS } from './check-filter.ts';

const choicesOf = (labels: Readonly<Record<string, string>>): readonly FilterChoice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The choices by name, read when the menu opens or to name the current choice. */
function useValuesOf(by: GroupBy): ReadChoices {
  const { data, error, reload } = useQuery(
    `values for filters, by ${by}`,
    (signal) => bodyOf(api.GET('/v1/check-state-breakdown', { params: { query: { by } }, signal })),
    { on: ['check.created', 'check.updated', 'check.deleted', 'group', 'location.updated'] },
  );
  const choices = data.value?.entries
    .flatMap(({ value, name }) => (value === null ? [] : [{ value, label: name ?? value }]))
    .sort((one, next) => one.label.localeCompare(next.label));
  return { choices: choices ?? null, error: error.value, retry: () => void reload() };
}

export const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', choices: choicesOf(STATE_LABELS) },
  { name: 'type', label: 'Type', choices: choicesOf(TYPE_LABELS) },
  { name: 'tag', label: 'Tag', choices: () => useValuesOf('tag') },
  { name: 'group', label: 'Group', choices: () => useValuesOf('group') },
  { name: 'location', label: 'Location', choices: () => useValuesOf('location') },
];

export const GROUP_BY: Filter = {
  name: 'group-by',
  label: 'Group by',
  any: 'nothing',
  choices: choicesOf(GROUP_BY_LABELS),
  resets: ['open', 'open-rest'],
};
