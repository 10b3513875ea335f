import { api, pageOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';

const SHOWN = 100;

/** The first channels of the account, as choices in forms. */
export function useChannelChoices() {
  return useQuery(
    'channels to choose',
    (signal) =>
      pageOf(api.GET('/v1/alert-channels', { params: { query: { limit: SHOWN } }, signal })),
    { on: ['alert_channel'] },
  );
}
