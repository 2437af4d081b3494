import { sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { readLogHead } from "../read-log-head.ts";
import type { ChainMove } from "./chain-move.ts";
import { copyIndexers, copySources } from "./copy-state.ts";

/**
 * Begins a chain's arrival, or goes on with one. Throws where the database has facts of something else. Who sees the
 * arrival also sees what is indexed of the chain: its indexers begin with that.
 */
export async function beginArrival(move: ChainMove, moveId: string): Promise<void> {
  const { chainId, to } = move;
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
    await copySources(move, session);
    await copyIndexers(move, session);
    await sql`
      insert into ops.arriving_chain (chain_id, move_id) values (${chainId}, ${moveId})`.execute(
      session,
    );
  });
}

/** How far the chain's facts are in its own database. */
export async function readArrived({ chainId, to }: ChainMove): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`
    select position from ops.arriving_chain where chain_id = ${chainId}`.execute(to);
  return rows[0]?.position ?? 0n;
}

/** Notes how far the chain's facts are. Throws where they are not `after`, or the log has others: somebody else wrote it. */
export async function advanceArrived(
  session: Session,
  chainId: number,
  { after, end }: { readonly after: bigint; readonly end: bigint },
): Promise<void> {
  const head = await sql`
    update log.head set position = ${end} where position = ${after}`.execute(session);
  const arrived = await sql`
    update ops.arriving_chain set position = ${end}
    where chain_id = ${chainId} and position = ${after}`.execute(session);
  if (head.numAffectedRows !== 1n || arrived.numAffectedRows !== 1n) throw changedMeanwhile();
}

/**
 * Sets the end of a log that takes no facts, and with it the projections that are there: positions between are of no
 * fact. Throws where its end is none of `expected`.
 */
export async function moveLogEnd(
  db: Database,
  expected: readonly bigint[],
  end: bigint,
): Promise<void> {
  await db.transaction().execute(async (session) => {
    const { rows } = await sql<{ position: bigint }>`
      select position from log.head for update`.execute(session);
    const position = rows[0]?.position ?? 0n;
    if (!expected.includes(position)) throw changedMeanwhile();
    await sql`update log.head set position = ${end}`.execute(session);
    await sql`
      update engine.checkpoint set position = ${end} where position = ${position}`.execute(session);
  });
}

const changedMeanwhile = () =>
  new Error("the log of the chain's own database was written by another process");
