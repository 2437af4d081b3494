import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";
import type { FactKind } from "../fact-kind.ts";
import { kindList, kindLiteral } from "../fact-kind-sql.ts";
import type { Partition } from "../partitions/read-partitions.ts";

/** Kinds of which readers of single subjects need the last one only, and projections of all of them no more. */
const replacedKinds: readonly FactKind[] = [
  "erc721_transfer",
  "approval_for_all",
  "erc20_approval",
];
/** Of these, the kinds whose subject are two accounts. */
const approvals = kindList("approval_for_all", "erc20_approval");

/** Facts of a partition that leave the database when it is detached: `position`, and the event that each is. */
export const leaving = sql`pg_temp.leaving_fact`;

/**
 * Fills the session's table of facts that leave, until the transaction ends. What stays, beside all other kinds: facts of
 * blocks that were ever retracted, and those that were ever quarantined, which do not count at every position; facts of
 * blocks with events in other partitions, so that a transaction is never divided; of each subject the last one of the
 * partition, and of each contract the first transfer.
 */
export async function selectLeaving(session: Session, partition: Bounds): Promise<void> {
  const table = sql.table(partition.table);
  await sql`drop table if exists ${leaving}`.execute(session);
  await sql`
    create temporary table leaving_fact on commit drop as
    with quarantined as materialized (
      select amount::bigint as position from log.fact where kind in ${kindList("fact_quarantined")}
    ), divided as materialized (
      select b.block_id
      from (select distinct block_id from ${table} where log_index is not null) b
      cross join lateral (${outside(partition)} limit 1) o
    ), lasting as materialized (
      select f.* from ${table} f
      where f.kind in ${kindList(...replacedKinds, "exchange_event")} and f.log_index is not null
        and not exists (select from quarantined q where q.position = f.position)
        and not exists (
          select from log.fact s
          where s.block_id = f.block_id and s.kind in ${kindList("block_retracted", "block_readopted")})
    ), replaced as (
      select f.*, lead(f.position) over (partition by ${subject} ${inOrder}) is null as is_last,
             lag(f.position) over (partition by f.kind, f.contract_id ${inOrder}) is null as is_first
      from lasting f where f.kind in ${kindList(...replacedKinds)}
    )
    select f.position, f.block_id, f.log_index, f.sub_index, f.kind
    from (
      select position, block_id, log_index, sub_index, kind from replaced where not is_last and not is_first
      union all
      select position, block_id, log_index, sub_index, kind from lasting where kind in ${kindList("exchange_event")}
    ) f
    where not exists (select from divided d where d.block_id = f.block_id)`.execute(session);
}

type Bounds = Pick<Partition, "table" | "first" | "last">;

const ofAccounts = (column: RawBuilder<unknown>) =>
  sql`case when f.kind in ${approvals} then ${column} end`;
const subject = sql`
  f.kind, f.contract_id, f.token_id, ${ofAccounts(sql`f.from_address`)}, ${ofAccounts(sql`f.to_address`)}`;
const inOrder = sql`order by f.block_id, f.log_index, f.sub_index`;

/** Events of the block of `b` in other partitions: looked up by block, not to read the whole log. */
const outside = ({ first, last }: Bounds) => sql`
  select from log.fact o
  where o.block_id = b.block_id and o.log_index is not null and (o.position < ${first} or o.position > ${last})`;

/** Notes the events of the facts that leave, so that one that is appended again is known. */
export async function noteLeaving(session: Session, first: bigint): Promise<void> {
  await forgetDetached(session, first);
  await sql`
    insert into log.detached_block (block_id, first_position, holds_sales, log_indexes, sub_indexes)
    select block_id, ${first}, bool_or(kind = ${kindLiteral("exchange_event")}),
           array_agg(log_index order by log_index, sub_index),
           case when bool_or(sub_index <> 0) then array_agg(sub_index order by log_index, sub_index) end
    from ${leaving} group by block_id order by block_id`.execute(session);
}

export async function forgetDetached(session: Session, first: bigint): Promise<void> {
  await sql`delete from log.detached_block where first_position = ${first}`.execute(session);
}
