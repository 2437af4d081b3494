import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";

/** SQL: the position of the last fact. */
export const logHead: RawBuilder<bigint> = sql<bigint>`(select position from log.head)`;

/** The position of the last fact; 0 for an empty log. */
export async function readLogHead(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(session);
  const [head] = rows;
  if (head === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return head.position;
}
