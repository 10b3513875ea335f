import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../api/errors.ts';
import { ErrorState } from '../../../parts/error-state.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import type { YamlPanelProps } from './yaml-panel.tsx';

/** Loads the YAML parser, which is as large as the rest of the form, only when the text is shown. */
export function LazyYaml(props: YamlPanelProps) {
  const [Panel, setPanel] = useState<ComponentType<YamlPanelProps> | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const load = (): void => {
    setError(null);
    import('./yaml-panel.tsx').then(
      ({ YamlPanel }) => setPanel(() => YamlPanel),
      (cause: unknown) =>
        setError(
          new ApiError('The YAML could not be loaded. The form works without it.', {
            kind: 'offline',
            code: 'PART_NOT_LOADED',
            cause,
          }),
        ),
    );
  };
  useEffect(load, []);
  if (error !== null) return <ErrorState error={error} retry={load} />;
  return Panel === null ? <Skeleton lines={14} label="Loading the YAML" /> : <Panel {...props} />;
}
