import { sql } from "kysely";
import type { Session } from "../../database.ts";
import { blockIdRange } from "../block-id.ts";

/** The highest block of a chain that archives alone have facts of: up to here the log does not tell all. */
export type DetachedBorder = { readonly blockNumber: bigint; readonly timestamp: Date };

/** Null: the log has all facts of the chain. */
export async function readDetachedBorder(
  session: Session,
  chainId: number,
): Promise<DetachedBorder | null> {
  const { rows } = await sql<DetachedBorder>`
    select b.number as "blockNumber", b.timestamp
    from (select max(last_block_id) as last from log.detached_range where chain_id = ${chainId}) r
    cross join lateral (
      select b.number, b.timestamp from log.block b
      where b.block_id >= ${blockIdRange(chainId).from} and b.block_id <= r.last
      order by b.block_id desc limit 1
    ) b`.execute(session);
  return rows[0] ?? null;
}

/** The last position of which an archive alone may have the fact; 0: the log has all. */
export async function readDetachedPosition(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select max(last_position) as position from log.archive where detached_at is not null`.execute(
    session,
  );
  return rows[0]?.position ?? 0n;
}

/** Throws where facts after a position are in archives alone. `what` needs them. */
export async function assertHeldAfter(
  session: Session,
  after: bigint,
  what: string,
): Promise<void> {
  const position = await readDetachedPosition(session);
  if (after < position)
    throw new Error(
      `${what} needs facts up to position ${position} that are in archives alone: op log attach`,
    );
}
