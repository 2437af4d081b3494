import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { openScratch } from "../engine/scratch.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { affectedBids } from "../order-state/affected-bids.ts";
import { contractSigned } from "../order-state/contract-signed.ts";
import { exchange } from "../order-state/exchange-contracts.ts";

/** The bids to judge, in a table of the session: what is signed, and what was derived of them before. */
export const judgedBids = sql`pg_temp.judged_bid`;

/** Rows from which statistics of the table pay for themselves. */
const ANALYZE_ROWS = 500;

/** Starts the list. Several targets may share a tick's transaction. */
export async function openJudged(session: Session): Promise<void> {
  await openScratch(
    session,
    "judged_bid",
    `chain_id integer, order_hash bytea, position bigint, kind text, contract_id integer, token_id numeric(78,0),
     standard smallint, maker bytea, currency bytea, unit_price_wei numeric(78,0), seller_net_wei numeric(78,0),
     quantity numeric(78,0), start_time bigint, end_time bigint, counter numeric(78,0), fees jsonb,
     is_contract_signed boolean, created_at timestamptz, old_status text, old_reason text, old_filled numeric(78,0),
     old_filled_block_id bigint, old_updated_at timestamptz, exchange_id integer`,
  );
}

/** Lists every bid of the log. */
export async function judgeAll(session: Session, window: FactWindow): Promise<void> {
  await sql`
    with emptied as (delete from ${judgedBids})
    insert into ${judgedBids} select s.*, ${nothingOld}, v.contract_id from (${submittedIn(window)}) s ${venue}`.execute(
    session,
  );
  await sql`analyze ${judgedBids}`.execute(session);
}

/** Lists the new bids of a window, and those stored that its facts may change. Returns how many. */
export async function judgeTouched(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<number> {
  const bid = sql.table(`${schema}.bid`);
  const touched = affectedBids(window, bid);
  // A new bid touches, too: the others of its maker where it was filled before it came.
  if (touched.length === 0) return 0;
  const { numAffectedRows } = await sql`
    with emptied as (delete from ${judgedBids}), touched as (
      ${sql.join(touched, sql` union `)}
    ), listed as (
      select s.*, ${nothingOld} from (${submittedIn(window)}) s
      union all
      select b.* from touched t cross join lateral (
        select chain_id, order_hash, position, kind, contract_id, token_id, standard, maker, currency,
               unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at,
               status, reason, filled, filled_block_id, updated_at
        from ${bid} b where b.order_hash = t.order_hash and b.chain_id = t.chain_id offset 0
      ) b
    )
    insert into ${judgedBids}
    select s.*, v.contract_id from listed s ${venue}`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${judgedBids}`.execute(session);
  return rows;
}

const nothingOld = sql`null, null, null::numeric, null::bigint, null::timestamptz`;

/** Bids submitted in a window, with the columns of `bid` that are signed. */
const submittedIn = (window: FactWindow): RawBuilder<unknown> => sql`
  select k.chain_id, f.order_hash, f.position, case when f.token_id is null then 'collection' else 'single-token' end,
         f.contract_id, f.token_id, case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end,
         f.from_address, decode(substr(f.payload #>> '{components,offer,0,token}', 3), 'hex'),
         (f.payload #>> '{terms,unitPriceWei}')::numeric, (f.payload #>> '{terms,sellerNetWei}')::numeric, f.amount,
         (f.payload #>> '{components,startTime}')::bigint, (f.payload #>> '{components,endTime}')::bigint,
         (f.payload #>> '{components,counter}')::numeric, f.payload #> '{terms,fees}', ${contractSigned},
         f.recorded_at
  from ${window.changes} f join log.contract k using (contract_id)
  where f.kind in ${kindList("order_submitted")} and f.payload #>> '{terms,side}' = 'bid'`;

/** The exchange's contract id on the chain of `s`; null while the log names none. */
const venue = sql`left join log.contract v on v.chain_id = s.chain_id and v.address = ${exchange}`;
