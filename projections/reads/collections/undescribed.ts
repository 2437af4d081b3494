import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../../database.ts";

/** Contracts of a chain's collections of which no description counts, in the order of their addresses after `after`. */
export async function readUndescribed(
  session: Session,
  chainId: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const { rows } = await sql<{ address: Address }>`
    select k.address
    from collections.member m join log.contract k on k.contract_id = m.contract_id
    where not m.described and k.chain_id = ${chainId} and k.address > ${bytes(after)}
    union
    select c.address
    from collections.claim c
    where c.chain_id = ${chainId} and c.address > ${bytes(after)}
      and not exists (
        select from log.contract k join collections.description d on d.contract_id = k.contract_id
        where k.chain_id = c.chain_id and k.address = c.address
      )
    order by address
    limit ${limit}`.execute(session);
  return rows.map((row) => row.address);
}

function bytes(address: Address | null): Buffer {
  return Buffer.from((address ?? "0x").slice(2), "hex");
}

/** Whether the collections stand at `position` or beyond; false before their tables are made. */
export async function haveCollectionsReached(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = 'collections' and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}
