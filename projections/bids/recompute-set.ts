import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, Relation, WindowWithKinds } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { affectedBids } from "../order-state/affected-bids.ts";
import { compactedWith, lateFillKinds, lateFills } from "../order-state/compaction.ts";
import { contractSigned } from "../order-state/contract-signed.ts";
import { exchange } from "../order-state/exchange-contracts.ts";
import { recomputeTable } from "../order-state/recompute-table.ts";
import { isEffective } from "../order-state/select-facts.ts";

/** The bids to recompute: their signed terms, and their stored state (`old_…`). */
export const bidsToRecompute = recomputeTable(
  "recompute_bid",
  `chain_id integer, order_hash bytea, position bigint, kind text, contract_id integer, token_id numeric(78,0),
   standard smallint, maker bytea, currency bytea, unit_price_wei numeric(78,0), seller_net_wei numeric(78,0),
   quantity numeric(78,0), start_time bigint, end_time bigint, counter numeric(78,0), fees jsonb,
   is_contract_signed boolean, created_at timestamptz, old_status text, old_reason text, old_filled numeric(78,0),
   old_filled_block_id bigint, old_updated_at timestamptz, exchange_id integer`,
);

/** Selects every bid of the log. */
export async function selectAllBids(session: Session, window: FactWindow): Promise<void> {
  const insert = sql`
    select s.*, ${noOldState}, x.contract_id from (${submittedIn(window.changes)}) s ${exchangeOfChain}`;
  await bidsToRecompute.replace(session, { queries: [], insert, isBulk: true });
}

/** Selects the bids submitted in a window, and those stored that its facts may change. Returns how many. */
export async function selectAffectedBids(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<number> {
  const bid = sql.table(`${schema}.bid`);
  const affected = [...affectedBids(window, bid), ...compactedBids(window, bid)];
  // A submission affects bids as well: the maker's others, if it was filled before it was submitted.
  if (affected.length === 0) return 0;
  const queries = [
    sql`affected as (${sql.join(affected, sql` union `)})`,
    sql`selected as (
      select s.*, ${noOldState} from (${submittedIn(window.changes)}) s
      union all
      ${returning(window, bid)}
      select b.* from affected a cross join lateral (
        select chain_id, order_hash, position, kind, contract_id, token_id, standard, maker, currency,
               unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at,
               status, reason, filled, filled_block_id, updated_at
        from ${bid} b where b.order_hash = a.order_hash and b.chain_id = a.chain_id offset 0
      ) b
    )`,
  ];
  const insert = sql`select s.*, x.contract_id from selected s ${exchangeOfChain}`;
  return bidsToRecompute.replace(session, { queries, insert, isBulk: false });
}

const noOldState = sql`null, null, null::numeric, null::bigint, null::timestamptz`;

function compactedBids(window: WindowWithKinds, bid: Relation): RawBuilder<unknown>[] {
  if (!holdsAny(window.kinds, ["clock_ticked"])) return [];
  return [sql`select o.chain_id, o.order_hash from ${bid} o where ${compactedWith(window)}`];
}

/** Compacted bids that a window shows to be filled, submitted before it. */
function returning(window: WindowWithKinds, bid: Relation): RawBuilder<unknown> {
  if (!holdsAny(window.kinds, lateFillKinds)) return sql``;
  const submissions = sql`(
    select f.* from (${lateFills(window)}) named cross join lateral (
      select f.* from ${window.facts} f
      where f.order_hash = named.order_hash and f.kind in ${kindList("order_submitted")} and ${isEffective(window)} offset 0
    ) f
    where not exists (select from ${bid} b where b.order_hash = f.order_hash)
      and not exists (select from ${window.changes} c where c.order_hash = f.order_hash and c.kind = f.kind)
  )`;
  return sql`select s.*, ${noOldState} from (${submittedIn(submissions)}) s union all`;
}

/** The submissions of bids among facts, with the columns of `bid` that are signed. */
const submittedIn = (facts: Relation): RawBuilder<unknown> => sql`
  select k.chain_id, f.order_hash, f.position, case when f.token_id is null then 'collection' else 'single-token' end,
         f.contract_id, f.token_id, case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end,
         f.from_address, decode(substr(f.payload #>> '{components,offer,0,token}', 3), 'hex'),
         (f.payload #>> '{terms,unitPriceWei}')::numeric, (f.payload #>> '{terms,sellerNetWei}')::numeric, f.amount,
         (f.payload #>> '{components,startTime}')::bigint, (f.payload #>> '{components,endTime}')::bigint,
         (f.payload #>> '{components,counter}')::numeric, f.payload #> '{terms,fees}', ${contractSigned},
         f.recorded_at
  from ${facts} f join log.contract k using (contract_id)
  where f.kind in ${kindList("order_submitted")} and f.payload #>> '{terms,side}' = 'bid'`;

/** The exchange's contract id on the chain of `s`; null before the first fact of the exchange. */
const exchangeOfChain = sql`left join log.contract x on x.chain_id = s.chain_id and x.address = ${exchange}`;
