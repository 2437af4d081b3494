import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { type CollectionName, readCollectionNames } from "../collections/find-collection.ts";
import { nameOfToken, unfoldRanges } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";
import {
  listedTokenParts,
  readTokenDetails,
  type TokenDetails,
  type TokenParts,
} from "./read-token-details.ts";

/** A token of a wallet, with its details. */
export type WalletTokenDetails = TokenDetails & { held: WalletToken; collection: CollectionName };

/** A page of tokens for each wallet. The session reads one snapshot. */
export async function readWalletTokenDetails(
  session: Session,
  filters: readonly WalletFilter[],
  slice: WalletTokenSlice,
  now: Date,
  parts: TokenParts = listedTokenParts,
): Promise<WalletTokenDetails[][]> {
  const lists: WalletToken[][] = [];
  for (const filter of filters) lists.push(await readWalletTokens(session, filter, slice));
  const detailed = await detailWalletTokens(session, lists.flat(), now, parts);
  let start = 0;
  return lists.map((list) => {
    const first = start;
    start += list.length;
    return detailed.slice(first, start);
  });
}

/** The tokens with their details, in their order. */
export async function detailWalletTokens(
  session: Session,
  tokens: readonly WalletToken[],
  now: Date,
  parts: TokenParts = listedTokenParts,
): Promise<WalletTokenDetails[]> {
  const details = await readTokenDetails(session, tokens, { collectionId: null, parts, now });
  const contractIds = tokens.map(({ contractId }) => contractId);
  const names = await readCollectionNames(session, contractIds);
  const detailsByToken = new Map(details.map((token) => [nameOf(token.row), token]));
  return tokens.map((held) => {
    const token = detailsByToken.get(nameOf(held));
    const collection = names.get(held.contractId);
    if (token === undefined || collection === undefined)
      throw new Error(`token ${held.tokenId} of contract ${held.contractId} was not read`);
    return { ...token, held, collection };
  });
}

const nameOf = (token: WalletTokenCursor): string => `${nameOfToken(token)}/${token.standard}`;

/** A token that a wallet holds units of. */
export type WalletToken = WalletTokenCursor & { units: bigint };

/** Sort key of a wallet's token. */
export type WalletTokenCursor = { contractId: number; tokenId: bigint; standard: 721 | 1155 };

export type WalletFilter = {
  chainId: number;
  wallet: Hex;
  /** null: of any. */
  contractIds: readonly number[] | null;
};

type WalletTokenSlice = { limit: number; after: WalletTokenCursor | null };

/** Tokens of both standards that a wallet holds, by contract and id. */
export async function readWalletTokens(
  session: Session,
  filter: WalletFilter,
  slice: WalletTokenSlice,
): Promise<WalletToken[]> {
  const { rows } = await sql<WalletToken>`
    select contract_id as "contractId", token_id as "tokenId", standard, units
    from (${tokensOfWallet(filter, slice)}) held order by contract_id, token_id, standard`.execute(
    session,
  );
  return rows;
}

/** SQL: the first tokens that a wallet holds (contract_id, token_id, standard, units), by contract and id. */
export function tokensOfWallet(
  filter: WalletFilter,
  { limit, after }: WalletTokenSlice,
): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, standard, units
    from (
      (${tokensOfStandard(filter, after, limit, erc721)})
      union all (${tokensInRanges(filter, after, limit)})
      union all (${tokensOfStandard(filter, after, limit, erc1155)})
    ) held
    order by contract_id, token_id, standard limit ${limit}`;
}

/** SQL: whether a contract is described as a coin: its Transfer events name amounts. */
export const isCoin = (held: "h" | "r") => sql`exists (
  select from collections.description d
  where d.contract_id = ${sql.ref(`${held}.contract_id`)} and d.standard = 20 and not exists (
    select from collections.contract m where m.contract_id = d.contract_id
  )
)`;

type Standard = {
  number: RawBuilder<unknown>;
  table: RawBuilder<unknown>;
  units: RawBuilder<unknown>;
};

const erc721: Standard = {
  number: sql`721`,
  table: sql`ownership.token`,
  units: sql`1::numeric`,
};
const erc1155: Standard = {
  number: sql`1155`,
  table: sql`ownership.balance`,
  units: sql`h.units`,
};

/** The first tokens of one standard, in index order. */
function tokensOfStandard(
  { chainId, wallet, contractIds }: WalletFilter,
  after: WalletTokenCursor | null,
  limit: number,
  { number, table, units }: Standard,
): RawBuilder<unknown> {
  const ofContracts =
    contractIds === null ? sql`` : sql`and h.contract_id = any (${contractIds}::int[])`;
  return sql`
    select h.contract_id, h.token_id, ${number}::int as standard, ${units} as units from ${table} h
    where h.owner = ${bytea(wallet)} and ${units} > 0 ${ofContracts} ${afterCursor(after, number)}
      and exists (
        select from log.contract k where k.contract_id = h.contract_id and k.chain_id = ${chainId} offset 0
      ) and not ${isCoin("h")}
    order by h.contract_id, h.token_id limit ${limit}`;
}

/** The first tokens in ranges; with a cursor, from the range that it is in or the next one on. */
function tokensInRanges(
  { chainId, wallet, contractIds }: WalletFilter,
  after: WalletTokenCursor | null,
  limit: number,
): RawBuilder<unknown> {
  const owner = bytea(wallet);
  const ofContracts =
    contractIds === null ? sql`` : sql`and r.contract_id = any (${contractIds}::int[])`;
  const id = sql`${String(after?.tokenId ?? 0n)}::numeric`;
  const fromCursor =
    after === null
      ? sql``
      : sql`
        and (r.contract_id, r.first_id) >= (${after.contractId}::int, coalesce((
          select max(before.first_id) from ownership.token_range before
          where before.owner = ${owner} and before.contract_id = ${after.contractId} and before.first_id <= ${id}
        ), 0))`;
  const ranges = sql`
    select * from ownership.token_range r
    where r.owner = ${owner} ${ofContracts} ${fromCursor} and exists (
      select from log.contract k where k.contract_id = r.contract_id and k.chain_id = ${chainId} offset 0
    ) and not ${isCoin("r")}
    order by r.contract_id, r.first_id`;
  const from = sql`case when r.contract_id = ${after?.contractId ?? 0}::int then ${id} else 0 end`;
  return sql`
    select h.contract_id, h.token_id, 721 as standard, 1::numeric as units from ${unfoldRanges({ ranges, from })} h
    where true ${afterCursor(after, sql`721`)} limit ${limit}`;
}

/** The first comparison is the index condition. */
function afterCursor(
  after: WalletTokenCursor | null,
  number: RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (after === null) return sql``;
  const last = sql`${after.contractId}::int, ${String(after.tokenId)}::numeric`;
  return sql`
    and (h.contract_id, h.token_id) >= (${last})
    and (h.contract_id, h.token_id, ${number}::int) > (${last}, ${after.standard}::int)`;
}
