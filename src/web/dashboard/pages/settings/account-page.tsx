import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { session } from '../../api/signed-in-user.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { count } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Table } from '../../parts/table.tsx';
import { AccountPanel } from './account-form.tsx';
import { SettingsFrame } from './settings-frame.tsx';

/** The account, and the limits and features of its plan. */
export function Page() {
  const { account } = session.value;
  const accountId = account?.id ?? '';
  const { data, error, reload } = useQuery(`entitlements/${accountId}`, (signal) =>
    bodyOf(
      api.GET('/v1/accounts/{accountId}/entitlements', {
        params: { path: { accountId } },
        signal,
      }),
    ),
  );
  const plan = data.value;
  const metered = plan?.entitlements.filter(({ type }) => type === 'metered') ?? [];
  const flags = plan?.entitlements.filter(({ type }) => type === 'flag') ?? [];
  return (
    <SettingsFrame current="settings" title="Account">
      <section class="panel" aria-label="The account">
        <dl class="settings-facts panel-body">
          <div>
            <dt>Id</dt>
            <dd>
              <Copyable text={accountId} />
            </dd>
          </div>
          <div>
            <dt>Your role</dt>
            <dd>{account?.role}</dd>
          </div>
          <div>
            <dt>Plan</dt>
            <dd>{plan?.planDisplayName ?? '–'}</dd>
          </div>
        </dl>
      </section>
      <AccountPanel key={accountId} accountId={accountId} />
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {plan === null && error.value === null && (
        <div class="panel">
          <Skeleton lines={8} height={37} label="Loading the plan" />
        </div>
      )}
      {plan !== null && (
        <>
          <section class="panel" aria-label="Limits of the plan">
            <div class="panel-head">
              <h2>Limits of the plan</h2>
            </div>
            <Table
              label="Limits of the plan"
              rows={metered}
              keyOf={({ key }) => key}
              columns={[
                { name: 'name', head: 'What', cell: ({ name }) => name },
                {
                  name: 'used',
                  head: 'In use',
                  isNumber: true,
                  cell: ({ used = 0, quantity }) => (
                    <>
                      {quantity !== undefined && used >= quantity && (
                        <span class="chip settings-full">no more</span>
                      )}{' '}
                      {count(used)}
                    </>
                  ),
                },
                {
                  name: 'limit',
                  head: 'At most',
                  isNumber: true,
                  cell: ({ quantity }) => (quantity === undefined ? 'no limit' : count(quantity)),
                },
                {
                  name: 'more',
                  head: 'More with',
                  cell: ({ requiredPlanDisplayName }) => requiredPlanDisplayName ?? '',
                },
              ]}
            />
          </section>
          <section class="panel" aria-label="Features of the plan">
            <div class="panel-head">
              <h2>Features</h2>
            </div>
            <Table
              label="Features of the plan"
              rows={flags}
              keyOf={({ key }) => key}
              columns={[
                { name: 'name', head: 'What', cell: ({ name }) => name },
                {
                  name: 'has',
                  head: 'In the plan',
                  cell: ({ enabled, requiredPlanDisplayName }) =>
                    enabled
                      ? 'yes'
                      : requiredPlanDisplayName === undefined
                        ? 'no'
                        : `no, with ${requiredPlanDisplayName}`,
                },
              ]}
            />
          </section>
        </>
      )}
    </SettingsFrame>
  );
}
