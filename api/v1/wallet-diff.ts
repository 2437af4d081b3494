import type { Address } from "viem";
import { z } from "zod";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readContractAddresses } from "#projections/log/contracts.ts";
import type { Database } from "#projections/log/database.ts";
import type { RelistedToken } from "#projections/past/read-changed-listings.ts";
import { readPastWalletTokens } from "#projections/tokens/read-past-wallet.ts";
import type {
  WalletFilter,
  WalletToken,
  WalletTokenCursor,
} from "#projections/tokens/read-wallet-tokens.ts";
import { cursorOf, cursorPageOf, cursorRefusals, pageFields } from "../http/page.ts";
import { route } from "./context.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "./parameters.ts";
import { foldPast, pointRefusals } from "./point.ts";
import {
  type AskedSpan,
  answerChanges,
  diffMeta,
  listingChanges,
  presentRelisted,
  readRelisted,
  scopeOfSpan,
  spanFields,
  spanOf,
} from "./span.ts";
import { heldKey, walletFilterOf, walletScope } from "./wallet-tokens.ts";
import { address, nameStandard, standardName, uint256Text } from "./wire.ts";

/** What a wallet came to hold, or no longer holds, of a token, and how its listings of it changed. */
export const WalletChange = z
  .object({
    contract: address,
    tokenId: uint256Text,
    standard: standardName,
    unitsBefore: uint256Text,
    unitsAfter: uint256Text,
    ...listingChanges,
  })
  .meta({ id: "WalletChange" });

const { per_page, cursor } = pageFields;

export const walletDiff = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/diff",
    operationId: "listWalletChanges",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "Tokens of which a wallet held another number of units after than before, or which it listed, by contract and id",
    params: z.object({ wallet }),
    query: z.object({
      chainId,
      ...spanFields,
      collection: collectionKey.optional(),
      cursor,
      per_page,
    }),
    data: z.array(WalletChange),
    meta: diffMeta,
    hasFiles: true,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params: { wallet }, query }, { db, market, now }) => {
    if (burnAddresses.has(wallet as Address))
      return reject("invalid_parameters", "wallet: a burn address is asked about today only");
    const { chainId, collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet, collection });
    if (isRejection(filter)) return filter;
    const span = await spanOf(db, query, now());
    if (isRejection(span)) return span;
    const scope = { ...walletScope(filter, "wallet diff"), ...scopeOfSpan(span) };
    const request = cursorPageOf(query, scope, heldKey);
    if (isRejection(request)) return request;
    const slice = { limit: query.per_page, after: request.read.after };
    const read = await foldPast(() => readWalletChanges(db, filter, span, slice));
    if (isRejection(read)) return read;
    const { changes, next } = read;
    const nextKey = next === null ? null : [next.contractId, next.tokenId, next.standard];
    return answerChanges(query, span, WalletChange, {
      data: await presentChanges(db, changes, span, market.prefix),
      next_cursor: cursorOf(scope, nextKey),
    });
  },
);

type Change = WalletTokenCursor & {
  before: bigint;
  after: bigint;
  relisted?: RelistedToken | undefined;
};
type Slice = { limit: number; after: WalletTokenCursor | null };

/** The wallet's lists of the two moments side by side, up to where both are read. Throws `TooMuchToFold`. */
async function readWalletChanges(
  db: Database,
  filter: WalletFilter,
  span: AskedSpan,
  slice: Slice,
) {
  const before = await readPastWalletTokens(db, filter, span.from, slice);
  const after = await readPastWalletTokens(db, filter, span.to, slice);
  const subject = { contractIds: filter.contractIds, tokenId: null, maker: filter.wallet };
  const relisted = await readRelisted(db, subject, span, slice);
  const ends = [before, after, relisted].flatMap((list: readonly WalletTokenCursor[]) =>
    list.length === slice.limit ? list.slice(-1) : [],
  );
  const [end = null] = ends.toSorted(byPlace);
  const both = [...pairs(before, after, relisted).values()]
    .filter((one) => end === null || byPlace(one, end) <= 0)
    .toSorted(byPlace);
  const changes = both.filter((one) => one.before !== one.after || one.relisted);
  const shown = changes.slice(0, slice.limit);
  return { changes: shown, next: changes.length > shown.length ? (shown.at(-1) ?? null) : end };
}

function pairs(
  before: readonly WalletToken[],
  after: readonly WalletToken[],
  relisted: readonly RelistedToken[],
): ReadonlyMap<string, Change> {
  const found = new Map<string, Change>();
  const nameOf = (one: WalletTokenCursor) => `${one.contractId} ${one.tokenId} ${one.standard}`;
  for (const { units, ...one } of before)
    found.set(nameOf(one), { ...one, before: units, after: 0n });
  for (const { units, ...one } of after) {
    const name = nameOf(one);
    found.set(name, { ...one, before: found.get(name)?.before ?? 0n, after: units });
  }
  for (const one of relisted) {
    const { contractId, tokenId, standard } = one;
    const held = found.get(nameOf(one)) ?? { before: 0n, after: 0n };
    found.set(nameOf(one), { ...held, contractId, tokenId, standard, relisted: one });
  }
  return found;
}

function byPlace(one: WalletTokenCursor, other: WalletTokenCursor): number {
  if (one.contractId !== other.contractId) return one.contractId - other.contractId;
  if (one.tokenId !== other.tokenId) return one.tokenId < other.tokenId ? -1 : 1;
  return one.standard - other.standard;
}

async function presentChanges(
  db: Database,
  changes: readonly Change[],
  span: AskedSpan,
  prefix: string,
): Promise<z.output<typeof WalletChange>[]> {
  const addresses = await readContractAddresses(
    db,
    changes.map(({ contractId }) => contractId),
  );
  return changes.map(({ contractId, tokenId, standard, before, after, relisted }) => {
    const contract = addresses.get(contractId);
    if (contract === undefined) throw new Error(`contract ${contractId} is not known`);
    return {
      ...{ contract, tokenId: String(tokenId), standard: nameStandard(standard) },
      ...{ unitsBefore: String(before), unitsAfter: String(after) },
      ...presentRelisted(span, relisted, prefix),
    };
  });
}
