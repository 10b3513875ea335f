import { Link } from '../../shell/link.tsx';
import './alerting.css';

const SECTIONS = [
  { to: '/alerts', label: 'Alerts' },
  { to: '/channels', label: 'Channels' },
] as const;

/** The tabs for alerts and channels. */
export function Sections({ current }: { readonly current: (typeof SECTIONS)[number]['to'] }) {
  return (
    <nav class="tabs" aria-label="Alerting">
      {SECTIONS.map(({ to, label }) => (
        <Link key={to} to={to} aria-current={to === current ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
