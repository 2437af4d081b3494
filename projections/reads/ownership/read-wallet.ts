import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "../../database.ts";

/** A token that a wallet holds units of. */
export type HeldToken = HeldKey & { units: bigint };

/** Place in the list of a wallet's tokens. */
export type HeldKey = { contractId: number; tokenId: bigint; standard: 721 | 1155 };

export type WalletFilter = {
  chainId: number;
  wallet: Hex;
  /** null: of any. */
  contractIds: readonly number[] | null;
};

/** Tokens of both standards that a wallet holds, by contract and id. */
export async function readWalletTokens(
  session: Session,
  filter: WalletFilter,
  { limit, after }: { limit: number; after: HeldKey | null },
): Promise<HeldToken[]> {
  const { rows } = await sql<HeldToken>`
    select contract_id as "contractId", token_id as "tokenId", standard, units
    from (
      (${part(filter, after, limit, single)}) union all (${part(filter, after, limit, many)})
    ) held
    order by contract_id, token_id, standard limit ${limit}`.execute(session);
  return rows;
}

type Standard = {
  number: RawBuilder<unknown>;
  table: RawBuilder<unknown>;
  units: RawBuilder<unknown>;
};

const single: Standard = {
  number: sql`721`,
  table: sql`ownership.token`,
  units: sql`1::numeric`,
};
const many: Standard = {
  number: sql`1155`,
  table: sql`ownership.balance`,
  units: sql`h.units`,
};

/** The first of one standard: its index has them in order. */
function part(
  { chainId, wallet, contractIds }: WalletFilter,
  after: HeldKey | null,
  limit: number,
  { number, table, units }: Standard,
): RawBuilder<unknown> {
  const ofFamily =
    contractIds === null ? sql`` : sql`and h.contract_id = any (${contractIds}::int[])`;
  return sql`
    select h.contract_id, h.token_id, ${number}::int as standard, ${units} as units from ${table} h
    where h.owner = decode(${wallet.slice(2)}, 'hex') and ${units} > 0 ${ofFamily} ${beyond(after, number)}
      and exists (
        select from log.contract k where k.contract_id = h.contract_id and k.chain_id = ${chainId} offset 0
      )
    order by h.contract_id, h.token_id limit ${limit}`;
}

/** The first comparison is what the index serves. */
function beyond(after: HeldKey | null, number: RawBuilder<unknown>): RawBuilder<unknown> {
  if (after === null) return sql``;
  const place = sql`${after.contractId}::int, ${String(after.tokenId)}::numeric`;
  return sql`
    and (h.contract_id, h.token_id) >= (${place})
    and (h.contract_id, h.token_id, ${number}::int) > (${place}, ${after.standard}::int)`;
}
