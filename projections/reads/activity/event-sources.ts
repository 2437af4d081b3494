import { type RawBuilder, sql } from "kysely";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { isBurnAddress, zeroAddress } from "#projections/log/sql-values.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** SQL of events where they stand; rows are `e`. */
export const tableOf = {
  log: sql`log.fact`,
  sales: sql`(select *, ordinal as sub_index, seller as from_address, buyer as to_address from sales.sale)`,
  activity: sql`(select *, maker as from_address from activity.cancel)`,
};

export const isTransfer = sql`e.kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`;
/** ERC-721 and ERC-1155; ranges apart. */
export const isOfOneId = sql`e.kind in ${kindList("erc721_transfer", "erc1155_transfer")}`;
const consecutive = kindLiteral("erc721_consecutive_transfer");
export const isOfRange = sql`e.kind = ${consecutive}`;
/** As partial indexes word it: a mint is not the zero address's, a burn not that of the address that it goes to. */
export const isNoMint = sql`e.from_address <> ${zeroAddress}`;
export const isNoBurn = sql`(e.from_address = ${zeroAddress} or not ${isBurnAddress(sql`e.to_address`)})`;

/** A range that ends before it begins holds no id: the log keeps the event, nothing has moved. */
const movesIds = sql`(not ${isOfRange} or e.amount > 0)`;
const hasLastId = sql`${isOfRange} and e.amount > 1`;
const transferType = sql`
  case when e.from_address = ${zeroAddress} then 'mint' when ${isBurnAddress(sql`e.to_address`)} then 'burn' else 'transfer' end`;

export const typeIn = { log: transferType, sales: sql`'sale'`, activity: sql`'cancel'` };

/** An event's columns; `last_id` is that of a range. */
export const columnsIn = {
  log: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, ${transferType} as type, e.token_id,
    case when ${hasLastId} then e.token_id + e.amount - 1 end as last_id,
    case when e.kind = ${kindLiteral("erc721_transfer")} then 1 else e.amount end as quantity, null::numeric as price_wei,
    e.from_address, e.to_address, null::bytea as currency, null::bytea as order_hash`,
  sales: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, 'sale' as type, e.token_id,
    null::numeric as last_id, e.quantity, e.price_wei, e.from_address, e.to_address, e.currency, e.order_hash`,
  activity: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, 'cancel' as type, e.token_id,
    null::numeric as last_id, null::numeric as quantity, null::numeric as price_wei, e.from_address,
    null::bytea as to_address, null::bytea as currency, e.order_hash`,
};

/** A release that is being replaced may move its own sales alone. */
const appliedUpTo = sql`(
  select min(c.position) from engine.checkpoint c
  where c.projection in (${sql.lit(schemaOf("activity"))}, ${sql.lit(schemaOf("sales"))})
)`;

/** Whether a fact is effective where the projections stand, so that all of a page is of one position. */
const isEffective = sql`
  e.position <= ${appliedUpTo} and (
    select s.kind from log.fact s
    where s.block_id = e.block_id and s.kind in ${kindList("block_retracted", "block_readopted")}
      and s.position <= ${appliedUpTo}
    order by s.position desc limit 1
  ) is distinct from ${kindLiteral("block_retracted")}`;

/** Whether a row is an event. */
export const isEventIn = {
  log: sql`${isTransfer} and ${movesIds} and ${isEffective}`,
  sales: sql`true`,
  activity: sql`true`,
};

/**
 * SQL: the events `e` for which a condition holds. It stands in each part: PostgreSQL does not move the conditions of a
 * join into the parts of a union.
 */
export const eventsWhere = (condition: RawBuilder<unknown>) => sql`
  select ${columnsIn.log} from log.fact e where ${condition} and e.log_index is not null and ${isEventIn.log}
  union all
  select ${columnsIn.sales} from ${tableOf.sales} e where ${condition}
  union all
  select ${columnsIn.activity} from ${tableOf.activity} e where ${condition}`;
