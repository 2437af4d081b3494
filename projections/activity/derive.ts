import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { saleKinds } from "../exchanges/sale-fact-kinds.ts";
import { kindList } from "../log/fact-kind-sql.ts";

const cancelKinds = kindList("order_cancelled", "counter_incremented");
const orderKinds = kindList("order_submitted", "partner_listing_seen");

const eventTable = (schema: string): RawBuilder<unknown> => sql.table(`${schema}.event`);

/** Removes cancels that are no longer effective, and the sales of changed transactions. */
export async function removeEvents(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const event = eventTable(schema);
  await sql`
    with removed as (
      delete from ${event} e using ${window.changes} c
      where c.weight < 0 and c.kind in ${cancelKinds}
        and e.block_id = c.block_id and e.log_index = c.log_index and e.sub_index = coalesce(c.sub_index, 0)
    )
    delete from ${event} e using (${changedTransactions(window)}) d
    where e.type = 'sale' and e.block_id = d.block_id and e.transaction_index = d.transaction_index
  `.execute(session);
}

/** Adds cancels that became effective, and the sales of changed transactions. */
export async function addNewEvents(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const ofChanged = sql`
    join (${changedTransactions(window)}) d on d.block_id = s.block_id and d.transaction_index = s.transaction_index`;
  await addEvents(session, schema, sql`${cancels(window)} union all ${sales} ${ofChanged}`);
}

/** All cancels, for the empty table; the next does the same for sales. */
export const addAllCancels = (session: Session, schema: string, window: FactWindow) =>
  addEvents(session, schema, cancels(window));
export const addAllSales = (session: Session, schema: string) => addEvents(session, schema, sales);

async function addEvents(
  session: Session,
  schema: string,
  events: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into ${eventTable(schema)} (block_id, log_index, sub_index, transaction_index, contract_id, type,
                                       token_id, quantity, price_wei, from_address, to_address, currency,
                                       order_hash)
    ${events}`.execute(session);
}

const changedTransactions = (window: FactWindow) => sql`
  select distinct block_id, transaction_index from ${window.changes} where kind in ${saleKinds}`;

/** The token of a cancelled order, where the log holds the order, whenever it came; of `c`, a cancel. */
const cancelledToken = (window: FactWindow) => sql`
  select f.contract_id, f.token_id
  from ${window.facts} f join log.contract k using (contract_id) join log.block b on b.block_id = c.block_id
  where f.order_hash = c.order_hash and f.kind in ${orderKinds} and f.position <= ${window.upTo}
    and k.chain_id = b.chain_id
  order by k.address, f.token_id limit 1`;

/** Gives cancels the tokens of orders that came later. */
export async function nameCancelled(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await sql`
    update ${eventTable(schema)} e set contract_id = token.contract_id, token_id = token.token_id
    from (
      select distinct order_hash from ${window.changes} where kind in ${orderKinds}
    ) named
    join ${window.facts} c on c.order_hash = named.order_hash and c.kind in ${cancelKinds}
    cross join lateral (${cancelledToken(window)}) token
    where e.block_id = c.block_id and e.log_index = c.log_index and e.sub_index = coalesce(c.sub_index, 0)
      and e.type = 'cancel'`.execute(session);
}

/** A raised counter cancels all of the maker's orders: a cancel without an order hash. */
const cancels = (window: FactWindow) => sql`
  select c.block_id, c.log_index, coalesce(c.sub_index, 0), c.transaction_index, cancelled.contract_id, 'cancel',
         cancelled.token_id, null::numeric, null::numeric, c.from_address, null::bytea, null::bytea, c.order_hash
  from ${window.changes} c
  left join lateral (${cancelledToken(window)}) cancelled on true
  where c.weight > 0 and c.kind in ${cancelKinds}`;

/** Copies of all current sales; `sub_index` is the sale's ordinal in its transaction. */
const sales = sql`
  select s.block_id, s.log_index, s.ordinal, s.transaction_index, s.contract_id, 'sale', s.token_id,
         s.quantity, s.price_wei, s.seller, s.buyer, s.currency, s.order_hash
  from sales.sale s`;
