import type { EscalationStep } from '../../model/alerting/alert-settings.ts';
import { isFields } from '../../model/credentials/credential-fields.ts';
import type { Entry } from './entries.ts';

/** Ids in the file by ids at the service. */
type Ids = ReadonlyMap<string | number, string>;

interface ReferenceParts {
  readonly ids: {
    readonly alertChannels: Ids;
    readonly groups: Ids;
    readonly statusServices: Ids;
  };
  /** The alert channels in the file. */
  readonly alertChannels: readonly Entry[];
  readonly groups: readonly Entry[];
  /** Called with the id of a check or heartbeat whose `triggerIncident` names no service. */
  readonly noteLostTrigger: (id: string) => void;
  /** Called with a channel of the escalation that the file does not contain. */
  readonly noteLostChannel: (id: string) => void;
}

/** Replaces ids of the service by ids in the file. */
export class References {
  readonly #parts: ReferenceParts;
  readonly #channels: ReadonlySet<unknown>;
  readonly #groups: ReadonlySet<unknown>;
  /** Whether the file has a channel that is not notified of all checks anyway. */
  readonly #hasOrdinaryChannel: boolean;

  constructor(parts: ReferenceParts) {
    this.#parts = parts;
    this.#channels = new Set(parts.alertChannels.map(({ id }) => id));
    this.#groups = new Set(parts.groups.map(({ id }) => id));
    this.#hasOrdinaryChannel = parts.alertChannels.some((channel) => channel.subscribeAll !== true);
  }

  /** Returns a check or a heartbeat with the ids in its references replaced. */
  inFile({ groupId, alertChannelSubscriptions, triggerIncident, ...entry }: Entry): Entry {
    return {
      ...entry,
      ...this.#group(groupId),
      ...this.#subscriptions(alertChannelSubscriptions),
      ...this.#trigger(String(entry.id), triggerIncident),
    };
  }

  /** @returns null if none of its channels is in the file */
  escalation(step: EscalationStep | null): Entry | null {
    if (step === null) return null;
    const channels = step.alertChannelIds.map(
      (id) => this.#parts.ids.alertChannels.get(id) ?? String(id),
    );
    const known = channels.filter((id) => this.#channels.has(id));
    for (const id of channels) if (!this.#channels.has(id)) this.#parts.noteLostChannel(id);
    return known.length === 0 ? null : { minutes: step.minutes, alertChannelIds: known };
  }

  #group(id: unknown): Entry {
    const group = typeof id === 'number' ? this.#parts.ids.groups.get(id) : undefined;
    return group === undefined || !this.#groups.has(group) ? {} : { groupId: group };
  }

  /**
   * Without the field, a new check would be subscribed to all channels. For a check without channels, the file
   * therefore has an empty list. Channels with `subscribeAll` need no subscription.
   */
  #subscriptions(given: unknown): Entry {
    const subscriptions = (Array.isArray(given) ? given : []).flatMap((one: unknown) => {
      if (!isFields(one) || typeof one.alertChannelId !== 'number') return [];
      const channel = this.#parts.ids.alertChannels.get(one.alertChannelId);
      return this.#channels.has(channel)
        ? [{ alertChannelId: String(channel), activated: one.activated !== false }]
        : [];
    });
    if (subscriptions.length === 0 && !this.#hasOrdinaryChannel) return {};
    const inOrder = subscriptions.toSorted((one, other) =>
      one.alertChannelId < other.alertChannelId ? -1 : 1,
    );
    return { alertChannelSubscriptions: inOrder.map(withoutDefault) };
  }

  #trigger(id: string, triggerIncident: unknown): Entry {
    if (!isFields(triggerIncident)) return {};
    const service = this.#parts.ids.statusServices.get(String(triggerIncident.serviceId));
    if (service !== undefined) {
      return { triggerIncident: { ...triggerIncident, serviceId: service } };
    }
    this.#parts.noteLostTrigger(id);
    return {};
  }
}

function withoutDefault({
  alertChannelId,
  activated,
}: {
  readonly alertChannelId: string;
  readonly activated: boolean;
}): Entry {
  return activated ? { alertChannelId } : { alertChannelId, activated };
}
