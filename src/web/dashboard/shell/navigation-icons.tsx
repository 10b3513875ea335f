/** SVG paths in a square of 16 by 16. */
const LINES: Readonly<Record<string, string>> = {
  overview: 'M2 4.5h12M2 8h12M2 11.5h7',
  locations:
    'M8 14.5c3-3.2 4.5-5.8 4.5-8a4.5 4.5 0 0 0-9 0c0 2.2 1.5 4.8 4.5 8zM8 8.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
  alerts: 'M3.5 11.5V7.5a4.5 4.5 0 0 1 9 0v4l1 1h-11zM6.5 14.3h3',
  heartbeats: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  maintenance: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.2v3M10.5 2.2v3',
  incidents: 'M8 2.2l6.3 11.3H1.7zM8 6.5v3.2M8 11.5v.1',
  statusPages: 'M2 3h12v10H2zM2 6h12M4.5 10.5v-2M7 10.5v-2M9.5 10.5v-2',
  variables:
    'M5.5 2.5C3 2.5 4.5 8 2.5 8c2 0 .5 5.5 3 5.5M10.5 2.5c2.5 0 1 5.5 3 5.5-2 0-.5 5.5-3 5.5',
  certificates:
    'M2.5 2.5h11v8h-4M2.5 10.5v-8M2.5 10.5h1.5M5 6h6M6.5 12.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM5.5 12.2v2.5l1-.7 1 .7v-2.5',
  reports: 'M2.5 2.5v11h11M5.5 11V8M8.5 11V4.5M11.5 11V6.5',
  snippets: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5M9 3L7 13',
  errorGroups: 'M4 2.5h9.5V12M2.5 4.5h9v9h-9zM5 7l4 4M9 7l-4 4',
  testSessions: 'M6 2h4M6.8 2v4.5L3 13.5h10L9.2 6.5V2M5 10.5h6',
  analyses: 'M6.8 11.6a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6zM10.3 10.3L14 14',
  settings:
    'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.5 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
};

export function NavigationIcon({ name }: { readonly name: string }) {
  return (
    <svg class="nav-icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={LINES[name] ?? ''} />
    </svg>
  );
}
