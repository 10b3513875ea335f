import { DASHBOARD_PATHS, type DashboardPageName } from '../../dashboard-paths.ts';
import { PAGES } from '../pages/index.ts';
import { Link } from './link.tsx';
import { NavigationIcon } from './navigation-icons.tsx';

interface Entry {
  /** The name of a page: an entry without a page is not shown. */
  readonly name: string;
  readonly label: string;
}

/** In the order of the navigation. */
const ENTRIES: readonly Entry[] = [
  { name: 'overview', label: 'Overview' },
  { name: 'locations', label: 'Locations' },
  { name: 'alerts', label: 'Alerts' },
  { name: 'heartbeats', label: 'Heartbeats' },
  { name: 'maintenance', label: 'Maintenance' },
  { name: 'incidents', label: 'Incidents' },
  { name: 'statusPages', label: 'Status pages' },
];
const MORE: readonly Entry[] = [
  { name: 'reports', label: 'Reports' },
  { name: 'variables', label: 'Variables' },
  { name: 'certificates', label: 'Certificates' },
  { name: 'snippets', label: 'Snippets' },
  { name: 'errorGroups', label: 'Error groups' },
  { name: 'testSessions', label: 'Test sessions' },
  { name: 'analyses', label: 'Root causes' },
];
const LAST: readonly Entry[] = [{ name: 'settings', label: 'Settings' }];

function shownOf(entries: readonly Entry[]): readonly (Entry & { name: DashboardPageName })[] {
  return entries.filter(
    (entry): entry is Entry & { name: DashboardPageName } => entry.name in PAGES,
  );
}

/** @param section of the page that is shown; null if there is none */
export function Navigation({ section }: { readonly section: string | null }) {
  const more = shownOf(MORE);
  return (
    <nav class="nav" aria-label="Dashboard">
      <Entries entries={shownOf(ENTRIES)} section={section} />
      {more.length > 0 && (
        <>
          <h2 class="nav-heading" id="nav-more">
            More
          </h2>
          <Entries entries={more} section={section} labelledBy="nav-more" />
        </>
      )}
      <Entries entries={shownOf(LAST)} section={section} />
    </nav>
  );
}

function Entries({
  entries,
  section,
  labelledBy,
}: {
  readonly entries: readonly (Entry & { name: DashboardPageName })[];
  readonly section: string | null;
  readonly labelledBy?: string;
}) {
  if (entries.length === 0) return null;
  return (
    <ul aria-labelledby={labelledBy}>
      {entries.map(({ name, label }) => (
        <li key={name}>
          <Link to={DASHBOARD_PATHS[name]} aria-current={section === name ? 'page' : undefined}>
            <NavigationIcon name={name} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}
