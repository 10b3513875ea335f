import { signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

/** theme-before-paint.js reads it, too. */
const KEPT_AS = 'vedette-theme';

function kept(): ThemeChoice {
  try {
    const found = localStorage.getItem(KEPT_AS);
    return THEMES.find((theme) => theme === found) ?? 'system';
  } catch {
    return 'system';
  }
}

export const theme = signal<ThemeChoice>(kept());

export function chooseTheme(choice: ThemeChoice): void {
  theme.value = choice;
  const { dataset } = document.documentElement;
  if (choice === 'system') delete dataset.theme;
  else dataset.theme = choice;
  try {
    localStorage.setItem(KEPT_AS, choice);
  } catch {
    // The storage may be blocked: then the choice lasts as long as the page.
  }
}
