/** Checks and the channels with `subscribe_all` that have no subscription of their own to them. */
export const SUBSCRIBED_TO_ALL = `(
  select k.account_id, k.id as check_id, every.id as channel_id
  from alert_channels every
  join checks k on k.account_id = every.account_id
  where every.subscribe_all and not exists (select from alert_subscriptions one
    where one.account_id = k.account_id and one.check_id = k.id and one.channel_id = every.id))`;

/**
 * Checks and the channels that are notified of them: each pair once. `is_named`: whether it is a subscription of its
 * own.
 */
export const SUBSCRIBERS = `(
  select account_id, check_id, channel_id, true as is_named from alert_subscriptions where activated
  union all
  select account_id, check_id, channel_id, false from ${SUBSCRIBED_TO_ALL} of_all)`;

/** The same with the subscriptions that are not activated. */
export const SUBSCRIPTIONS = `(
  select account_id, check_id, channel_id, activated, true as is_named from alert_subscriptions
  union all
  select account_id, check_id, channel_id, true, false from ${SUBSCRIBED_TO_ALL} of_all)`;
