import type { Address, Hex } from "viem";
import { z } from "zod";
import {
  cursorInteger,
  cursorOf,
  cursorPageOf,
  cursorRefusals,
  pageFields,
} from "#api/http/page.ts";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { RelistedToken } from "#projections/past/read-changed-listings.ts";
import { readSalesOfTokens } from "#projections/sales/read-sales-of-tokens.ts";
import { type MovedToken, readMovedTokens } from "#projections/tokens/read-moved-tokens.ts";
import { type PastToken, readPastTokens } from "#projections/tokens/read-past-token.ts";
import {
  contractsOfReference,
  referTo,
  rejectUncoveredCollection,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey } from "../parameters.ts";
import { foldPast, pointRefusals } from "../point.ts";
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
} from "../span.ts";
import { address, nameStandard, standardName, uint256Text } from "../wire.ts";

const HoldingChange = z.object({ address, unitsBefore: uint256Text, unitsAfter: uint256Text });

/** What became of a token between two moments. */
const TokenChange = z
  .object({
    contract: address,
    tokenId: uint256Text,
    standard: standardName,
    change: z.enum(["minted", "burned", "moved"]).nullable().meta({
      description:
        "`minted`: nobody held it before; `burned`: nobody holds it after. Null: its holders are the same.",
    }),
    ownerBefore: address.nullable().meta({ description: "Null as `ownerAfter`: of ERC-1155." }),
    ownerAfter: address.nullable(),
    holders: z.array(HoldingChange).meta({
      description: "Whose units changed, by address; burn addresses are not holders.",
    }),
    sales: z.int().min(0).meta({ description: "Between the two moments." }),
    ...listingChanges,
  })
  .meta({ id: "TokenChange" });

const { per_page, cursor } = pageFields;
const placeKey = z
  .tuple([cursorInteger(9), cursorInteger(78)])
  .transform(([contractId, tokenId]): MovedToken => ({ contractId: Number(contractId), tokenId }));

export const collectionDiff = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/diff",
    operationId: "listCollectionChanges",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Tokens of a collection that were minted, burned, sold, listed or changed hands between two moments, by contract and id",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      ...spanFields,
      cursor,
      per_page,
    }),
    data: z.array(TokenChange),
    meta: diffMeta,
    hasFiles: true,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, market, now }) => {
    const { chainId } = query;
    const collection = await referTo(db, chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(chainId, params.collection);
    if (!collection.isCovered) return rejectUncoveredCollection(chainId, collection);
    const span = await spanOf(db, query, now());
    if (isRejection(span)) return span;
    const contractIds = contractsOfReference(collection);
    const scope = {
      ...{ list: "collection diff", chainId, contractIds: contractIds.join() },
      ...scopeOfSpan(span),
    };
    const request = cursorPageOf(query, scope, placeKey);
    if (isRejection(request)) return request;
    const read = await foldPast(() => readChanges(db, contractIds, span, request.read));
    if (isRejection(read)) return read;
    const next = read.next === null ? null : [read.next.contractId, read.next.tokenId];
    return answerChanges(query, span, TokenChange, {
      data: read.places.flatMap((one) => changeOf(one, span, market.prefix)),
      next_cursor: cursorOf(scope, next),
    });
  },
);

type Slice = { limit: number; after: MovedToken | null };

/** An id that moved, or whose listings are others, with what it was and is. */
type ChangedPlace = {
  readonly before: PastToken | undefined;
  readonly after: PastToken | undefined;
  readonly sales: number;
  readonly relisted: RelistedToken | undefined;
};

/** The next ids that moved, or whose listings differ, up to where both lists are read. Throws `TooMuchToFold`. */
async function readChanges(
  db: Database,
  contractIds: readonly number[],
  span: AskedSpan,
  { limit, after }: Slice,
): Promise<{ places: ChangedPlace[]; next: MovedToken | null }> {
  const moved = await readMovedTokens(db, contractIds, span, { limit, after });
  const subject = { contractIds, tokenId: null, maker: null };
  const relisted = await readRelisted(db, subject, span, {
    ...{ limit, after: after && { ...after, standard: 1155 } },
  });
  const others = relisted.filter((one) => !moved.some((place) => isAt(place, one)));
  const [end = null] = [moved, relisted]
    .flatMap((list) => (list.length === limit ? list.slice(-1) : []))
    .toSorted(byContractAndId);
  const known = [...moved, ...others]
    .filter((one) => end === null || byContractAndId(one, end) <= 0)
    .toSorted(byContractAndId);
  const shown = known.slice(0, limit - 1);
  const isLast = end === null && known.length === shown.length;
  const [before, later] = [
    await readPastTokens(db, shown, span.from),
    await readPastTokens(db, shown, span.to),
  ];
  const sold = { first: span.from.endId, end: span.to.endId };
  const sales = await readSalesOfTokens(db, shown, sold);
  const places = shown.map((place, index) => ({
    before: before.find((token) => isAt(token, place)),
    after: later.find((token) => isAt(token, place)),
    sales: sales[index] ?? 0,
    relisted: relisted.find((token) => isAt(token, place)),
  }));
  return { places, next: isLast ? null : (shown.at(-1) ?? null) };
}

const isAt = (one: MovedToken, other: MovedToken) =>
  one.contractId === other.contractId && one.tokenId === other.tokenId;

function byContractAndId(one: MovedToken, other: MovedToken): number {
  if (one.contractId !== other.contractId) return one.contractId - other.contractId;
  if (one.tokenId === other.tokenId) return 0;
  return one.tokenId < other.tokenId ? -1 : 1;
}

/** Nothing where all is as it was. */
function changeOf(
  { before, after, sales, relisted }: ChangedPlace,
  span: AskedSpan,
  prefix: string,
): z.output<typeof TokenChange>[] {
  const token = after ?? before ?? relisted;
  if (token === undefined) return [];
  const [were, are] = [unitsOf(before), unitsOf(after)];
  const holders = [...new Set([...were.keys(), ...are.keys()])]
    .filter((one) => were.get(one) !== are.get(one))
    .toSorted()
    .map((one) => ({
      address: one,
      unitsBefore: String(were.get(one) ?? 0n),
      unitsAfter: String(are.get(one) ?? 0n),
    }));
  if (holders.length === 0 && sales === 0 && relisted === undefined) return [];
  return [
    {
      ...{ contract: token.contract, tokenId: String(token.tokenId) },
      standard: nameStandard(token.standard),
      ...{ change: nameOfChange(were.size, are.size, holders.length) },
      ...{ ownerBefore: ownerOf(before), ownerAfter: ownerOf(after), holders, sales },
      ...presentRelisted(span, relisted, prefix),
    },
  ];
}

/** By how many held the token before and after, and of how many the units changed. */
function nameOfChange(before: number, after: number, changed: number) {
  if (changed === 0) return null;
  if (before === 0) return "minted";
  return after === 0 ? "burned" : "moved";
}

const unitsOf = (token: PastToken | undefined): Map<Hex, bigint> =>
  new Map(
    (token?.heldBy ?? [])
      .filter(({ owner, units }) => units > 0n && !burnAddresses.has(owner))
      .map(({ owner, units }) => [owner, units]),
  );

const ownerOf = (token: PastToken | undefined): Address | null =>
  token?.standard === 721 ? ([...unitsOf(token).keys()][0] ?? null) : null;
