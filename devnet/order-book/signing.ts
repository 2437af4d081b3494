import { type Address, type Hex, isAddressEqual } from "viem";
import { z } from "zod";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import {
  type OrderComponents,
  orderType,
  type SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import type { Actor, Actors } from "../market/actors.ts";
import type { MarketContext } from "../market/signer.ts";
import { presentWhole } from "../marketplaces/seaport-shapes.ts";
import type { ApiClient } from "./api-client.ts";

/** The order book of the service, and the people who trade on it. */
export type OrderBook = { api: ApiClient; market: MarketContext; actors: Actors };

export const hex = z.templateLiteral(["0x", z.string()]);
const integer = z.string().transform(BigInt);
const item = z.object({
  itemType: z.number(),
  token: hex,
  identifierOrCriteria: integer,
  startAmount: integer,
  endAmount: integer,
});
const considerationItem = item.extend({ recipient: hex });

/** The components of an order as the API presents them. */
export const WireComponents = z.object({
  offerer: hex,
  zone: hex,
  offer: z.array(item),
  consideration: z.array(considerationItem),
  orderType: z.number(),
  startTime: integer,
  endTime: integer,
  zoneHash: hex,
  salt: integer,
  conduitKey: hex,
  counter: integer,
});

const Side = z.looseObject({
  conduitKey: hex,
  orderType: z.number(),
  offer: z.array(item),
  consideration: z.array(considerationItem),
});
const Params = z.looseObject({
  zone: hex,
  zoneHash: hex,
  saltPrefix: hex,
  counter: integer,
  bounds: z.looseObject({ minDurationSeconds: z.number() }),
});
const ListingParams = Params.extend(Side.shape);
const BidParams = Params.extend({
  offers: Side.extend({ openOffersWei: integer, balanceWei: integer, allowanceWei: integer }),
});

/** `shortest`: no longer than the service's bounds require. */
type Lifetime = { days: number } | "shortest";
const daySeconds = 86_400;
/** Added to the shortest lifetime, for the time until the order is checked. */
const marginSeconds = 60;

export type ListingTerms = { nft: Nft; priceWei: bigint; quantity?: bigint; lifetime?: Lifetime };
export type BidTerms = {
  contract: Address;
  /** Undefined: any token of the contract. */
  tokenId?: bigint;
  priceWei: bigint;
  quantity?: bigint;
};

/** A listing as the service wants it signed. */
export async function composeListing(
  { api, market }: OrderBook,
  maker: Address,
  { nft, priceWei, quantity = 1n, lifetime }: ListingTerms,
): Promise<OrderComponents> {
  const query = new URLSearchParams({
    chainId: `${market.chainId}`,
    maker,
    contract: nft.contract,
    tokenId: `${nft.tokenId}`,
    unitPriceWei: `${priceWei}`,
    quantity: `${quantity}`,
  });
  const params = ListingParams.parse(await api.get(`/v1/orders/params?${query}`));
  return compose(market, maker, { params, side: params, lifetime });
}

/** A bid as the service wants it signed, and what the bidder lacks for it. */
export async function composeBid(
  { api, market }: OrderBook,
  maker: Address,
  { contract, tokenId, priceWei, quantity = 1n }: BidTerms,
): Promise<{ components: OrderComponents; lackingWei: bigint; allowanceWei: bigint | null }> {
  const query = new URLSearchParams({
    chainId: `${market.chainId}`,
    maker,
    contract,
    unitPriceWei: `${priceWei}`,
    ...(tokenId === undefined ? { kind: "collection" } : { tokenId: `${tokenId}` }),
  });
  const params = BidParams.parse(await api.get(`/v1/orders/params?${query}`));
  const { offers } = params;
  const wei = priceWei * quantity;
  const requiredWei = offers.openOffersWei + wei;
  const components = compose(market, maker, { params, side: offers });
  return {
    components: quantity === 1n ? components : inUnits(components, quantity),
    lackingWei: wei > offers.balanceWei ? wei - offers.balanceWei : 0n,
    allowanceWei: requiredWei > offers.allowanceWei ? requiredWei : null,
  };
}

/** What a bid on several tokens names them by. */
export type Criteria =
  | { tokenIds: readonly string[] }
  | { traits: readonly { type: string; value: string }[] };

const Requirements = z.looseObject({
  items: z.tuple([
    z.looseObject({
      message: z.string().nullable(),
      criteria: z.looseObject({ root: hex, tokenIds: z.array(z.string()) }).nullable(),
    }),
  ]),
});

/** A bid on one token of those that criteria name, and the ids to be sent with it. */
export async function composeCriteriaBid(
  book: OrderBook,
  maker: Address,
  { criteria, ...terms }: { contract: Address; priceWei: bigint; criteria: Criteria },
) {
  const { contract, priceWei } = terms;
  const kind = "traits" in criteria ? "trait" : "token-list";
  const item = { kind, contract, criteria, amountWei: `${priceWei}`, quantity: 1 };
  const { chainId } = book.market;
  const answer = await book.api.post("/v1/bids/requirements", { chainId, maker, items: [item] });
  const [{ message, criteria: tokens }] = Requirements.parse(answer).items;
  if (tokens === null) throw new Error(`a bid of kind ${kind} is blocked: ${message}`);
  const { components, ...money } = await composeBid(book, maker, terms);
  const consideration = components.consideration.map((one) =>
    isAddressEqual(one.token, contract)
      ? { ...one, identifierOrCriteria: BigInt(tokens.root) }
      : one,
  );
  const sent = { ...criteria, tokenIds: tokens.tokenIds };
  return { ...money, components: { ...components, consideration }, criteria: sent };
}

type Composition = {
  params: z.output<typeof Params>;
  side: z.output<typeof Side>;
  lifetime?: Lifetime | undefined;
};

function compose(
  { random }: MarketContext,
  maker: Address,
  { params, side, lifetime = { days: 7 } }: Composition,
): OrderComponents {
  // A chain's newest block may be a few seconds old; an order must not begin after it.
  const startTime = BigInt(Math.floor(Date.now() / 1_000) - 10);
  const seconds =
    lifetime === "shortest"
      ? params.bounds.minDurationSeconds + marginSeconds
      : lifetime.days * daySeconds;
  return {
    offerer: maker,
    zone: params.zone,
    offer: side.offer,
    consideration: side.consideration,
    orderType: side.orderType,
    startTime,
    endTime: startTime + BigInt(seconds),
    zoneHash: params.zoneHash,
    salt: (BigInt(params.saltPrefix) << 224n) | random.between(0n, 2n ** 128n),
    conduitKey: side.conduitKey,
    counter: params.counter,
  };
}

/** A collection bid is priced for one unit and multiplied for more. */
function inUnits(components: OrderComponents, quantity: bigint): OrderComponents {
  const times = <Item extends { startAmount: bigint }>(one: Item) => ({
    ...one,
    startAmount: one.startAmount * quantity,
    endAmount: one.startAmount * quantity,
  });
  return {
    ...components,
    offer: components.offer.map(times),
    consideration: components.consideration.map(times),
    orderType: orderType.partialOpen,
  };
}

/** A signed order in the form of a request. */
export const presentSigned = ({ components, signature }: SignedOrder) => ({
  parameters: presentWhole(components),
  signature,
});

export function actorAt(actors: Actors, address: Hex): Actor | undefined {
  return Object.values(actors).find((actor) => actor.address.toLowerCase() === address);
}
