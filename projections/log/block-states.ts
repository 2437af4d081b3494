import { sql } from "kysely";
import type { Session } from "../database.ts";
import { factKind } from "./fact-kind.ts";

type BlockState = "block_retracted" | "block_readopted";

/**
 * Appends a retraction or re-adoption for each block that it changes. No row is deleted and there is no depth limit:
 * a block's facts count while the last word on the block is not a retraction.
 */
export async function appendBlockStates(
  session: Session,
  state: BlockState,
  blockIds: readonly bigint[],
  at: Date,
): Promise<number> {
  if (blockIds.length === 0) return 0;
  const { rows } = await sql<{ appended: bigint }>`
    select log.append_block_states(${factKind[state]}::smallint, ${blockIds}::bigint[], ${at}) as appended
  `.execute(session);
  return Number(rows[0]?.appended ?? 0n);
}
