import { sql } from "kysely";
import type { Session } from "../database.ts";

/** Where facts wait, in the appender's transaction, for their positions. Emptied when it ends. */
export async function openStage(session: Session): Promise<void> {
  await sql`
    create temporary table if not exists staged (
      ord               bigint,
      kind              smallint,
      chain_id          integer,
      block_number      bigint,
      block_hash        bytea,
      block_timestamp   timestamptz,
      transaction_index integer,
      transaction_hash  bytea,
      log_index         integer,
      sub_index         integer,
      contract          bytea,
      token_id          numeric(78,0),
      amount            numeric(78,0),
      from_address      bytea,
      to_address        bytea,
      order_hash        bytea,
      identity          bytea,
      recorded_at       timestamptz,
      payload           jsonb
    ) on commit delete rows`.execute(session);
}

export type Appended = {
  /** New facts; those the log held already are not counted. */
  appended: number;
  /** Position of the log's last fact. */
  head: bigint;
};

/** Gives the staged facts their positions. Locks the log's head until the transaction ends. */
export async function appendStaged(session: Session): Promise<Appended> {
  const { rows } = await sql<{ appended: bigint; head: bigint }>`
    select appended, last_position as head from log.append_staged()`.execute(session);
  const row = rows[0];
  if (row === undefined) throw new Error("log.append_staged returned no row");
  return { appended: Number(row.appended), head: row.head };
}
