import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';

export interface CardToStore {
  readonly id: string;
  readonly name: string;
  /** Ids that `lockServicesShared` locks. */
  readonly services: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
}

/** Saves all cards of the page, in their order. Only for a page that is new or locked. */
export async function replaceCards(
  sql: Sql,
  { accountId, id, cards }: AccountKey & { readonly cards: readonly CardToStore[] },
): Promise<void> {
  await sql.query('delete from status_page_cards where account_id = $1 and status_page_id = $2', [
    accountId,
    id,
  ]);
  if (cards.length === 0) return;
  await sql.query(
    `insert into status_page_cards (account_id, status_page_id, id, position, name, created_at,
       updated_at)
     select $1, $2, card.id, card.position, card.name, card.created_at, card.updated_at
     from unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
       with ordinality as card (id, name, created_at, updated_at, position)`,
    [
      accountId,
      id,
      cards.map((card) => card.id),
      cards.map(({ name }) => name),
      cards.map(({ createdAtMs }) => new Date(createdAtMs)),
      cards.map(({ updatedAtMs }) => (updatedAtMs === null ? null : new Date(updatedAtMs))),
    ],
  );
  const links = cards.flatMap((card) =>
    card.services.map((service, position) => ({ card: card.id, service, position })),
  );
  await sql.query(
    `insert into status_page_card_services (account_id, card_id, service_id, position)
     select $1, link.card, link.service, link.position
     from unnest($2::text[], $3::text[], $4::int[]) as link (card, service, position)`,
    [
      accountId,
      links.map(({ card }) => card),
      links.map(({ service }) => service),
      links.map(({ position }) => position),
    ],
  );
}
