import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Address, type Hex, numberToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type IntakeCode, rejectField } from "#projections/domain/intake-codes.ts";
import type { Criteria, CriteriaTrait, OrderBody } from "#projections/domain/orders/order-terms.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import {
  type CriteriaTree,
  criteriaTree,
  maxCriteriaTokens,
} from "#projections/domain/seaport/criteria.ts";
import { type ConsiderationItem, itemType } from "#projections/domain/seaport/order-components.ts";
import type { Database } from "#projections/log/database.ts";
import { readTokenSets } from "#projections/orders/token-sets.ts";
import { countExisting } from "#projections/tokens/count-existing.ts";
import { readTokensOfTraits } from "#projections/traits/read-criteria-traits.ts";

/** What a bid on several tokens is sent with: ids, traits that all tokens with them have now, or both. */
export type CriteriaRequest = {
  tokenIds?: readonly bigint[] | undefined;
  traits?: readonly CriteriaTrait[] | undefined;
};

/** Criteria and the tokens under their root, by id. */
export type CriteriaTokens = { criteria: Criteria; tokenIds: readonly bigint[] };

/** The same, and how many of them exist now. */
export type Coverage = CriteriaTokens & { existing: number };

type OfContract = { chainId: ChainId; contract: Address };

/** The tokens that criteria name. */
async function resolveCriteria(
  db: Database,
  of: OfContract,
  { tokenIds = [], traits }: CriteriaRequest,
): Promise<CriteriaTokens | Rejection<IntakeCode>> {
  const distinct = textsOf(tokenIds);
  if (distinct.size < tokenIds.length) {
    return rejectField("bad_criteria", {
      field: "criteria.tokenIds",
      expected: "each token once",
      actual: `${tokenIds.length} ids of ${distinct.size} tokens`,
    });
  }
  if (traits === undefined) return tokensOf(tokenIds, null);
  const holders = await readTokensOfTraits(db, of, traits, maxCriteriaTokens + 1);
  return (
    refuseNumber(holders.length) ??
    refuseOthers(tokenIds, holders) ??
    tokensOf(tokenIds.length === 0 ? holders : tokenIds, traits)
  );
}

/** A set of bigints tells them apart by their low 64 bits alone: ten thousand that are equal there take a second. */
const textsOf = (tokenIds: readonly bigint[]) => new Set(tokenIds.map(String));

function refuseNumber(tokens: number): Rejection<IntakeCode> | null {
  if (tokens > 0 && tokens <= maxCriteriaTokens) return null;
  const actual = tokens === 0 ? "none" : `more than ${maxCriteriaTokens}`;
  return rejectField("bad_criteria", {
    ...{ field: "criteria.traits", expected: `traits of 1 to ${maxCriteriaTokens} tokens`, actual },
    message: `${actual} of the contract's tokens have all of the traits: from 1 to ${maxCriteriaTokens} must`,
  });
}

/** Metadata may have changed since the tokens were looked up. */
function refuseOthers(
  tokenIds: readonly bigint[],
  holders: readonly bigint[],
): Rejection<IntakeCode> | null {
  const having = textsOf(holders);
  const others = tokenIds.filter((tokenId) => !having.has(String(tokenId)));
  if (others.length === 0) return null;
  return rejectField("bad_criteria", {
    ...{ field: "criteria.tokenIds", expected: "tokens with the traits", actual: `${others[0]}` },
    message: `${others.length} of the tokens lack the traits now, token ${others[0]} among them`,
  });
}

/** The tokens that criteria name, and what of them there is. */
export async function readCoverage(
  db: Database,
  of: OfContract,
  request: CriteriaRequest,
): Promise<Coverage | Rejection<IntakeCode>> {
  const tokens = await resolveCriteria(db, of, request);
  if (isRejection(tokens)) return tokens;
  return { ...tokens, existing: await countExisting(db, of, tokens.tokenIds) };
}

function tokensOf(tokenIds: readonly bigint[], traits: Criteria["traits"]): CriteriaTokens {
  const byId = tokenIds.toSorted((one, other) => (one < other ? -1 : 1));
  return { criteria: { root: treeOf(byId).root, traits }, tokenIds: byId };
}

/** By a hash of the ids that costs little: the largest tree takes 20,000 hashes, and the same tokens are asked for, sent and sold into. */
const trees = new LRUCache<string, CriteriaTree>({ max: 16 });

/** The tree of token ids, which are sorted. */
export function treeOf(tokenIds: readonly bigint[]): CriteriaTree {
  const name = createHash("sha256").update(tokenIds.join()).digest("hex");
  const tree = trees.get(name) ?? criteriaTree(tokenIds);
  trees.set(name, tree);
  return tree;
}

const isByCriteria = ({ itemType: type }: ConsiderationItem) => type >= itemType.erc721WithCriteria;

/**
 * The tokens that a signed bid is for, by what was sent with it, or else by its root, if bids were for it before; null: it
 * names none, or nothing is known of them. `parseBid` compares the root.
 */
export async function readCriteriaOf(
  db: Database,
  chainId: ChainId,
  { components: { consideration } }: OrderBody,
  request: CriteriaRequest | null,
): Promise<CriteriaTokens | Rejection<IntakeCode> | null> {
  const item = consideration.find(isByCriteria);
  if (item === undefined) return request === null ? null : refuseItemType(consideration);
  const { token: contract, identifierOrCriteria } = item;
  if (request !== null) return resolveCriteria(db, { chainId, contract }, request);
  if (identifierOrCriteria === 0n) return null;
  const root = numberToHex(identifierOrCriteria, { size: 32 });
  return storedTokens(db, { chainId, contract }, root);
}

async function storedTokens(
  db: Database,
  of: OfContract,
  root: Hex,
): Promise<CriteriaTokens | null> {
  const tokenIds = (await readTokenSets(db, of, [root])).get(root);
  return tokenIds === undefined ? null : { criteria: { root, traits: null }, tokenIds };
}

function refuseItemType([first]: readonly ConsiderationItem[]): Rejection<IntakeCode> {
  return rejectField("bad_criteria", {
    field: "parameters.consideration[0].itemType",
    expected: "4 or 5, an item by criteria, as `criteria` were sent with the order",
    actual: `${first?.itemType}`,
  });
}
