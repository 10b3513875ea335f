import { useState } from 'preact/hooks';
import type { ServiceCondition } from '../../../../model/incident/status-page-incident.ts';
import { CONDITION_WORDS } from '../../../status/conditions.tsx';
import { Button } from '../../parts/button.tsx';
import { useServices } from '../incidents/queries.ts';
import type { PageForm } from './page-form.ts';

/**
 * A preview of the page before it is saved: its order, texts and colours, with the current states. The page
 * itself cannot be framed (frame-ancestors), and its markup is not inserted into the dashboard.
 */
export function PagePreview({
  form,
  conditions,
}: {
  readonly form: PageForm;
  /** Null if they are not known yet. */
  readonly conditions: ReadonlyMap<string, ServiceCondition> | null;
}) {
  const services = useServices().data.value;
  const [theme, setTheme] = useState<'light' | 'dark'>(
    form.defaultTheme === 'DARK' ? 'dark' : 'light',
  );
  const colors = form.themeColors[theme];
  const wordOf = (id: string): string => {
    const condition = conditions?.get(id);
    if (condition !== undefined) return CONDITION_WORDS[condition];
    return conditions === null ? '…' : 'Shown once it is saved';
  };
  return (
    <section class="panel" aria-label="Preview">
      <div class="panel-head">
        <h2>Preview</h2>
        <span class="status-pages-themes">
          {(['light', 'dark'] as const).map((each) => (
            <Button
              key={each}
              class={`small${theme === each ? ' chosen' : ''}`}
              aria-pressed={theme === each}
              onClick={() => setTheme(each)}
            >
              {each === 'light' ? 'Light' : 'Dark'}
            </Button>
          ))}
        </span>
      </div>
      <div
        class="status-pages-preview"
        style={{ background: colors.bodyBackgroundColor, color: colors.bodyFontColor }}
      >
        <div
          class="status-pages-preview-head"
          style={{
            background: colors.headerBackgroundColor,
            color: colors.headerFontColor,
            borderColor: colors.borderColor,
          }}
        >
          <strong>{form.name}</strong>
          <span
            class="status-pages-preview-button"
            style={{
              background: colors.primaryButtonBackgroundColor,
              color: colors.primaryButtonFontColor,
            }}
          >
            Subscribe
          </span>
        </div>
        {form.description !== '' && <p>{form.description}</p>}
        {form.cards.map((card) => (
          <div
            key={card.key}
            class="status-pages-preview-card"
            style={{ background: colors.cardBackgroundColor, borderColor: colors.borderColor }}
          >
            <strong style={{ color: colors.titleFontColor }}>{card.name}</strong>
            {card.services.map((id) => (
              <div key={id} class="status-pages-preview-service">
                <span>{services?.get(id)?.name ?? id}</span>
                <span style={{ color: colors.bodyFontColorMuted }}>{wordOf(id)}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
