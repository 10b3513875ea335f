import { api, pageOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { Link } from '../../shell/link.tsx';

/** A link to the channels if nobody would be notified of a failure. It is in the header, so that no row moves. */
export function NobodyNotified() {
  const { data } = useQuery(
    'a channel',
    (signal) => pageOf(api.GET('/v1/alert-channels', { params: { query: { limit: 1 } }, signal })),
    { on: ['alert_channel'] },
  );
  if (data.value === null || data.value.entries.length > 0) return null;
  return (
    <Link class="overview-next" to="/channels">
      Nobody is notified: add a channel
    </Link>
  );
}
