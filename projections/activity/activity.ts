import { type RawBuilder, sql } from "kysely";
import type { FactWindow, Projection } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { versions } from "../log/versions.ts";

const cancelKinds = kindList("order_cancelled", "counter_incremented");
const orderKinds = kindList("order_submitted", "partner_listing_seen");

const cancelTable = (schema: string): RawBuilder<unknown> => sql.table(`${schema}.cancel`);

/** Removes cancels that are no longer effective. */
async function removeCancels(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    delete from ${cancelTable(schema)} e using ${window.changes} c
    where c.weight < 0 and c.kind in ${cancelKinds}
      and e.block_id = c.block_id and e.log_index = c.log_index and e.sub_index = coalesce(c.sub_index, 0)`.execute(
    session,
  );
}

/** Adds cancels that became effective. A raised counter cancels all of the maker's orders: it has no order hash. */
async function addCancels(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    insert into ${cancelTable(schema)}
      (block_id, log_index, sub_index, transaction_index, contract_id, token_id, maker, order_hash)
    select c.block_id, c.log_index, coalesce(c.sub_index, 0), c.transaction_index, cancelled.contract_id,
           cancelled.token_id, c.from_address, c.order_hash
    from ${window.changes} c
    left join lateral (${cancelledToken(window)}) cancelled on true
    where c.weight > 0 and c.kind in ${cancelKinds}`.execute(session);
}

/** The token of a cancelled order, where the log holds the order, whenever it came; of `c`, a cancel. */
const cancelledToken = (window: FactWindow) => sql`
  select f.contract_id, f.token_id
  from ${window.facts} f join log.contract k using (contract_id) join log.block b on b.block_id = c.block_id
  where f.order_hash = c.order_hash and f.kind in ${orderKinds} and f.position <= ${window.upTo}
    and k.chain_id = b.chain_id
  order by k.address, f.token_id limit 1`;

/** Gives cancels the tokens of orders that came later. */
async function nameCancelled(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    update ${cancelTable(schema)} e set contract_id = token.contract_id, token_id = token.token_id
    from (
      select distinct order_hash from ${window.changes} where kind in ${orderKinds}
    ) named
    join ${window.facts} c on c.order_hash = named.order_hash and c.kind in ${cancelKinds}
    cross join lateral (${cancelledToken(window)}) token
    where e.block_id = c.block_id and e.log_index = c.log_index and e.sub_index = coalesce(c.sub_index, 0)`.execute(
    session,
  );
}

/** `README.md` says what the columns hold. */
function tables(schema: string): readonly string[] {
  const cancel = `"${schema}"."cancel"`;
  return [
    `create table ${cancel} (
       block_id          bigint  not null,
       log_index         integer not null,
       sub_index         integer not null,
       transaction_index integer not null,
       contract_id       integer,
       token_id          numeric(78,0),
       maker             bytea   not null,
       order_hash        bytea,
       primary key (block_id, log_index, sub_index)
     )`,
    `create index cancel_contract on ${cancel} (contract_id, block_id, log_index, sub_index)
     where contract_id is not null`,
    `create index cancel_token on ${cancel} (contract_id, token_id, block_id, log_index, sub_index)
     where token_id is not null`,
    `create index cancel_maker on ${cancel} (maker, block_id, log_index, sub_index)`,
  ];
}

/** Cancels, for feeds of a collection or a wallet; transfers and sales are read where they stand. */
export const activityProjection: Projection = {
  name: "activity",
  version: versions.activity.version,
  handles: ["order_cancelled", "counter_incremented", "order_submitted", "partner_listing_seen"],
  sample: {
    key: ["block_id", "transaction_index"],
    where: sql`kind in ${cancelKinds}`,
    tables: ["cancel"],
  },
  tables,
  async apply(session, schema, window) {
    await removeCancels(session, schema, window);
    await addCancels(session, schema, window);
    await nameCancelled(session, schema, window);
  },
  deriveAll: [{ name: "cancels", derive: addCancels }],
};
