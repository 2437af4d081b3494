import { sql } from "kysely";
import type { Session } from "../../database.ts";
import { assertHeldAfter } from "../archives/detached-border.ts";
import { kindList } from "../fact-kind-sql.ts";
import { advanceArrived, readArrived } from "./arrival.ts";
import type { ChainMove } from "./chain-move.ts";
import { fetchRows, storeRows } from "./copy-rows.ts";
import { isOfChain } from "./departure.ts";

/** Positions that one transaction copies at most, and contracts. */
const stepPositions = 10_000n;
const stepContracts = 20_000;

/**
 * Copies the chain's next facts, and those of no chain, with their positions: an answer is the same as before, and a
 * cursor or the id of an event stays what it is. Positions of other chains' facts are left out. Returns how far it is.
 */
export async function copyStep(move: ChainMove, upTo: bigint): Promise<bigint> {
  const { chainId, from, to } = move;
  const after = await readArrived(move);
  const end = after + stepPositions < upTo ? after + stepPositions : upTo;
  if (end <= after) return after;
  await assertHeldAfter(from, after, "the chain's move");
  await copyContracts(move);
  const known = await readKnownContracts(to);
  const texts = await from
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((session) => fetchStep(session, { chainId, after, end, known }));
  await to.transaction().execute(async (session) => {
    await sql`
      select log.add_partitions(${end}) from log.head
      where ${end} >= partitions_end - partition_size / 4`.execute(session);
    for (const [table, text] of texts) await storeRows(session, table, text);
    await advanceArrived(session, chainId, { after, end });
    await sql`
      select setval(pg_get_serial_sequence('log.contract', 'contract_id'), max(contract_id))
      from log.contract`.execute(session);
    await sql`select pg_notify('log', ${end.toString()})`.execute(session);
  });
  return end;
}

type Step = {
  readonly chainId: number;
  readonly after: bigint;
  readonly end: bigint;
  readonly known: number;
};

async function fetchStep(session: Session, step: Step): Promise<[table: string, text: string][]> {
  const { after, end, known } = step;
  const facts = sql`
    select f.* from log.fact f
    where f.position > ${after} and f.position <= ${end} and ${isCopied(step.chainId)} order by f.position`;
  const rowsOf = {
    "log.contract": contractsAfter(known),
    "log.contract_alias": sql`select * from log.contract_alias`,
    "log.block": sql`
      select b.* from log.block b
      where b.block_id in (select f.block_id from (${facts}) f where f.block_id is not null)`,
    "log.transaction": sql`
      select x.* from log.transaction x
      where (x.block_id, x.transaction_index) in (
        select f.block_id, f.transaction_index from (${facts}) f where f.transaction_index is not null)`,
    "log.transaction_part": sql`
      select p.* from log.transaction_part p where p.position > ${after} and p.position <= ${end}`,
    "log.fact": facts,
  };
  const texts: [string, string][] = [];
  for (const [table, rows] of Object.entries(rowsOf)) {
    texts.push([table, (await fetchRows(session, rows)).text]);
  }
  return texts;
}

/** Ids are given under the log's lock: those of later ones are higher. */
const contractsAfter = (known: number) => sql`
  select k.* from log.contract k where k.contract_id > ${known} order by k.contract_id limit ${stepContracts}`;

async function readKnownContracts(to: Session): Promise<number> {
  const { rows } = await sql<{ known: number | null }>`
    select max(contract_id) as known from log.contract`.execute(to);
  return rows[0]?.known ?? 0;
}

/** Copies all contracts: an id is never given to another one. What is left are those of the facts that come next. */
async function copyContracts({ from, to }: ChainMove): Promise<void> {
  for (;;) {
    const known = await readKnownContracts(to);
    const { text, count } = await fetchRows(from, contractsAfter(known));
    await storeRows(to, "log.contract", text);
    if (count < stepContracts) return;
  }
}

/** Registered collections are known everywhere, as names that others may not take; floors and unresolved events to their chain. */
const isCopied = (chainId: number) => sql`(
  ${isOfChain(chainId)} and not (
    f.kind in ${kindList("floor_snapshotted")} and (f.payload ->> 'chainId')::int <> ${chainId}
    or f.kind in ${kindList("fact_quarantined", "fact_released")} and not exists (
      select from log.fact named where named.position = f.amount::bigint and ${isNamedOfChain(chainId)}))
  or f.kind in ${kindList("collection_registered")})`;

const isNamedOfChain = (chainId: number) => sql`exists (
  select from (select named.block_id, named.contract_id) f where ${isOfChain(chainId)})`;
