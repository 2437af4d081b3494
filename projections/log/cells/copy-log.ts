import { sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { kindList } from "../fact-kind-sql.ts";
import { readLogHead } from "../read-log-head.ts";
import { fetchRows, storeRows } from "./copy-rows.ts";
import { isOfChain } from "./departure.ts";

/** A chain on its way from one database to another. */
export type Passage = {
  readonly chainId: number;
  readonly from: Database;
  readonly to: Database;
};

/** Positions that one transaction copies at most, and contracts. */
const stepPositions = 10_000n;
const stepContracts = 20_000;

/** Begins a chain's arrival, or goes on with one. Throws where the database has facts of something else. */
export async function beginArrival({ chainId, to }: Passage, moveId: string): Promise<void> {
  await to.transaction().execute(async (session) => {
    const head = await readLogHead(session);
    const { rows } = await sql<{ moveId: string }>`
      select move_id as "moveId" from ops.arriving_chain where chain_id = ${chainId}`.execute(
      session,
    );
    const [known] = rows;
    if (known?.moveId === moveId) return;
    if (known !== undefined || head > 0n)
      throw new Error("the chain's own database is not empty: it has facts of another log");
    await sql`
      insert into ops.arriving_chain (chain_id, move_id) values (${chainId}, ${moveId})`.execute(
      session,
    );
  });
}

/**
 * Sets the end of a log that takes no facts, and with it the projections that are there: positions between are of no
 * fact.
 */
export async function moveLogEnd(db: Database, end: bigint): Promise<void> {
  await db.transaction().execute(async (session) => {
    const { rows } = await sql<{ position: bigint }>`
      select position from log.head for update`.execute(session);
    await sql`update log.head set position = ${end}`.execute(session);
    await sql`
      update engine.checkpoint set position = ${end} where position = ${rows[0]?.position ?? 0n}`.execute(
      session,
    );
  });
}

/** How far the chain's facts are in its own database. */
export async function readArrived({ chainId, to }: Passage): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`
    select position from ops.arriving_chain where chain_id = ${chainId}`.execute(to);
  return rows[0]?.position ?? 0n;
}

/**
 * Copies the chain's next facts, and those of no chain, with their positions: an answer is the same as before, and a
 * cursor or the id of an event stays what it is. Positions of other chains' facts are left out. Returns how far it is.
 */
export async function copyStep(passage: Passage, upTo: bigint): Promise<bigint> {
  const { chainId, from, to } = passage;
  const after = await readArrived(passage);
  const end = after + stepPositions < upTo ? after + stepPositions : upTo;
  if (end <= after) return after;
  await copyContracts(passage);
  const known = await readKnownContracts(to);
  const texts = await from
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((session) => fetchStep(session, { chainId, after, end, known }));
  await to.transaction().execute(async (session) => {
    for (const [table, text] of texts) await storeRows(session, table, text);
    await sql`update log.head set position = ${end}`.execute(session);
    await sql`
      update ops.arriving_chain set position = ${end}
      where chain_id = ${chainId} and position = ${after}`.execute(session);
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
async function copyContracts({ from, to }: Passage): Promise<void> {
  for (;;) {
    const known = await readKnownContracts(to);
    const { text, count } = await fetchRows(from, contractsAfter(known));
    await storeRows(to, "log.contract", text);
    if (count < stepContracts) return;
  }
}

/** Registered collections are known everywhere, as names that others may not take; floors and doubts to their chain. */
const isCopied = (chainId: number) => sql`(
  ${isOfChain(chainId)} and not (
    f.kind in ${kindList("floor_snapshotted")} and (f.payload ->> 'chainId')::int <> ${chainId}
    or f.kind in ${kindList("fact_quarantined", "fact_released")} and not exists (
      select from log.fact named where named.position = f.amount::bigint and ${isNamedOfChain(chainId)}))
  or f.kind in ${kindList("collection_registered")})`;

const isNamedOfChain = (chainId: number) => sql`exists (
  select from (select named.block_id, named.contract_id) f where ${isOfChain(chainId)})`;
