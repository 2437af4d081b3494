import { type Address, encodeFunctionData, isAddressEqual, zeroAddress } from "viem";
import { z } from "zod";
import { seaportFunctions } from "#abis/seaport.ts";
import { contracts } from "../contracts/addresses.ts";
import type { Actor } from "../market/actors.ts";
import {
  drawEdition,
  drawOther,
  drawPriceWei,
  drawPunk,
  drawTrader,
  editionIds,
  punkRange,
  tradedRanges,
} from "../market/seed-tokens.ts";
import { signBulkOrder, signOrder } from "../market/signed-orders.ts";
import {
  actorAt,
  type BidTerms,
  type Criteria,
  composeBid,
  composeCriteriaBid,
  composeListing,
  hex,
  type ListingTerms,
  type OrderBook,
  presentSigned,
  WireComponents,
} from "./signing.ts";

const Order = z.looseObject({
  maker: hex,
  contract: hex,
  standard: z.string(),
  expiresAt: z.string(),
  priceWei: z.string().transform(BigInt),
  currency: z.looseObject({ address: hex }),
  quantity: z.number(),
  quantityRemaining: z.number(),
});
const Listing = Order.extend({
  askId: z.string(),
  marketplace: z.string(),
  tokenId: z.string(),
  buyableViaApi: z.boolean(),
});
const Bid = Order.extend({
  bidId: z.string(),
  kind: z.string(),
  tokenId: z.string().nullable(),
});

export type Listing = z.output<typeof Listing>;
export type Bid = z.output<typeof Bid>;

/** Active listings of every marketplace. */
export const readListings = async ({ api, market }: OrderBook): Promise<Listing[]> =>
  z.array(Listing).parse(await api.get(`/v1/listings?chainId=${market.chainId}&per_page=100`));

export const readBids = async ({ api, market }: OrderBook): Promise<Bid[]> =>
  z.array(Bid).parse(await api.get(`/v1/bids?chainId=${market.chainId}&per_page=100`));

const Call = z.looseObject({ to: hex, data: hex, value: z.string().transform(BigInt) });

/** Buys a listing of any marketplace, of several units only one. */
export const buysListing: Action = async (book) => {
  const { api, market, actors } = book;
  const buyable = (await readListings(book)).filter(
    ({ buyableViaApi, currency }) => buyableViaApi && isAddressEqual(currency.address, zeroAddress),
  );
  const listing = drawOne(book, buyable);
  const maker = actorAt(actors, listing.maker);
  const buyer = drawOther(market, actors, ...(maker === undefined ? [] : [maker]));
  const body = {
    chainId: market.chainId,
    buyer: buyer.address,
    ...(listing.quantity > 1 ? { amount: 1 } : {}),
  };
  const { to, data, value } = Call.parse(
    await api.post(`/v1/listings/${listing.askId}/buy-data`, body),
  );
  await buyer.transact({ to, data, value });
};

const Acceptance = z.discriminatedUnion("method", [
  z.looseObject({
    method: z.literal("fulfillBasicOrder_efficient_6GL6yc"),
    to: hex,
    basicOrderParameters: z.unknown(),
  }),
  z.looseObject({
    method: z.literal("matchAdvancedOrders"),
    to: hex,
    orders: z.unknown(),
    criteriaResolvers: z.unknown(),
    fulfillments: z.unknown(),
    recipient: z.unknown(),
  }),
]);

const isOfCriteria = ({ kind }: Bid) => kind === "trait" || kind === "token-list";

/** Sells into a bid, the named token or one of the collection. */
export const acceptsBid: Action = async (book) => {
  const bids = (await readBids(book)).filter((bid) => !isOfCriteria(bid));
  const bid = drawOne(book, bids);
  const { seller, tokenId } = await drawSeller(book, bid);
  await sellInto(book, bid.bidId, { seller, tokenId });
};

const Offers = z.array(
  z.looseObject({
    token: z.looseObject({ tokenId: z.string() }),
    bid: Bid,
  }),
);

/** Sells into a bid on several tokens, one for which it is the best offer; without such an offer nothing. */
export const acceptsCriteriaBid: Action = async (book) => {
  const { api, market, actors } = book;
  const seller = drawTrader(market, actors);
  const path = `/v1/wallets/${seller.address}/offers?chainId=${market.chainId}&per_page=100`;
  const offers = Offers.parse(await api.get(path)).filter(({ bid }) => isOfCriteria(bid));
  if (offers.length === 0) return;
  const { token, bid } = drawOne(book, offers);
  await sellInto(book, bid.bidId, { seller, tokenId: token.tokenId });
};

async function sellInto(
  { api, market }: OrderBook,
  bidId: string,
  { seller, tokenId }: { seller: Actor; tokenId: string },
): Promise<void> {
  const body = { chainId: market.chainId, fulfiller: seller.address, tokenId };
  const accepted = Acceptance.parse(await api.post(`/v1/bids/${bidId}/accept-data`, body));
  const args =
    accepted.method === "matchAdvancedOrders"
      ? [
          ...[accepted.orders, accepted.criteriaResolvers, accepted.fulfillments],
          accepted.recipient,
        ]
      : [accepted.basicOrderParameters];
  const call = { abi: seaportFunctions, functionName: accepted.method, args };
  // The arguments are the API's word; the exchange checks them.
  const data = encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0]);
  await seller.transact({ to: accepted.to, data });
}

async function drawSeller(
  { api, market, actors }: OrderBook,
  { contract, tokenId, maker }: Bid,
): Promise<{ seller: Actor; tokenId: string }> {
  if (tokenId !== null) {
    const path = `/v1/collections/${contract}/tokens/${tokenId}?chainId=${market.chainId}`;
    const { owner } = z.looseObject({ owner: hex }).parse(await api.get(path));
    return { seller: knownActor(actorAt(actors, owner), owner), tokenId };
  }
  const range = tradedRanges.find((one) => isAddressEqual(one.contract, contract));
  const { nft, owner } = await drawPunk(market, actors, range);
  if (isAddressEqual(owner.address, maker)) throw new Error(`${maker} bids for its own token`);
  return { seller: owner, tokenId: `${nft.tokenId}` };
}

const Stored = z.looseObject({ components: WireComponents, signature: hex });

/** Cancels an order on the chain and has the service look again. */
async function cancel(book: OrderBook, side: "asks" | "bids", id: string, maker: Address) {
  const { api, market, actors } = book;
  const { chainId } = market;
  const order = Stored.parse(
    await api.get(`/v1/orders/${side}/${id}/components?chainId=${chainId}`),
  );
  const receipt = await knownActor(actorAt(actors, maker), maker).cancels(order);
  const txHash = receipt.transactionHash;
  await api.post(`/v1/orders/${side}/${id}/sync`, { chainId, txHash });
}

const isNative = ({ marketplace }: Listing) => marketplace === "native";

export const cancelsListing: Action = async (book) => {
  const { askId, maker } = drawOne(book, (await readListings(book)).filter(isNative));
  await cancel(book, "asks", askId, maker);
};

export const cancelsBid: Action = async (book) => {
  const { bidId, maker } = drawOne(book, await readBids(book));
  await cancel(book, "bids", bidId, maker);
};

/** A lower price for a token that its owner has listed: the older listing is superseded. */
export const lowersPrice: Action = async (book) => {
  const { actors } = book;
  const single = (await readListings(book)).filter(
    (listing) => isNative(listing) && listing.standard === "erc721",
  );
  const { maker, contract, tokenId, priceWei } = drawOne(book, single);
  const nft = { standard: "erc721", contract, tokenId: BigInt(tokenId) } as const;
  const owner = knownActor(actorAt(actors, maker), maker);
  await submitListing(book, owner, { nft, priceWei: (priceWei * 9n) / 10n });
};

function drawOne<One>({ market }: OrderBook, [first, ...rest]: readonly One[]): One {
  if (first === undefined) throw new Error(`nothing to trade on chain ${market.chainId}`);
  return market.random.pick([first, ...rest]);
}

function knownActor(actor: Actor | undefined, address: Address): Actor {
  if (actor === undefined) throw new Error(`${address} is no trader of the local chains`);
  return actor;
}

/** Something that one of the people does on the order book. */
export type Action = (book: OrderBook) => Promise<void>;

async function submitListing(book: OrderBook, maker: Actor, terms: ListingTerms) {
  const { api, market } = book;
  const order = await signOrder(market, maker, await composeListing(book, maker.address, terms));
  const { chainId } = market;
  await api.post("/v1/orders/asks", { chainId, seaport: presentSigned(order) });
}

type ComposedBid = Awaited<ReturnType<typeof composeBid>> & { criteria?: Criteria };

async function submitBid(book: OrderBook, bidder: Actor, composed: ComposedBid) {
  const { api, market } = book;
  const { components, lackingWei, allowanceWei, criteria } = composed;
  if (lackingWei > 0n) await bidder.wraps(lackingWei);
  if (allowanceWei !== null) await bidder.allows(allowanceWei);
  const seaport = presentSigned(await signOrder(market, bidder, components));
  const sent = { chainId: market.chainId, seaport, ...(criteria && { criteria }) };
  await api.post("/v1/orders/bids", sent);
}

async function submitBidFor(book: OrderBook, bidder: Actor, terms: BidTerms) {
  await submitBid(book, bidder, await composeBid(book, bidder.address, terms));
}

export const listsToken: Action = async (book) => {
  const { nft, owner } = await drawPunk(book.market, book.actors);
  const priceWei = drawPriceWei(book.market, "erc721");
  await submitListing(book, owner, { nft, priceWei, lifetime: { days: 7 } });
};

export const listsForMinutes: Action = async (book) => {
  const { nft, owner } = await drawPunk(book.market, book.actors);
  const priceWei = drawPriceWei(book.market, "erc721");
  await submitListing(book, owner, { nft, priceWei, lifetime: "shortest" });
};

export const listsEdition: Action = async (book) => {
  const quantity = 4n;
  const { nft, owner } = await drawEdition(book.market, book.actors, quantity);
  await submitListing(book, owner, {
    nft,
    priceWei: drawPriceWei(book.market, "erc1155"),
    quantity,
  });
};

/** A token and two editions under one signature. */
export const listsInBulk: Action = async (book) => {
  const { api, market, actors } = book;
  const { nft, owner } = await drawPunk(market, actors);
  const [first, ...editions] = editionIds;
  const second = market.random.pick([editions[0] ?? first, ...editions]);
  const edition = { standard: "erc1155", contract: contracts.editions } as const;
  const nfts = [nft, { ...edition, tokenId: first }, { ...edition, tokenId: second }];
  const orders = [];
  for (const one of nfts) {
    const priceWei = drawPriceWei(market, one.standard);
    orders.push(await composeListing(book, owner.address, { nft: one, priceWei }));
  }
  const signed = await signBulkOrder(market, owner, orders);
  const listings = signed.map((order) => ({ seaport: presentSigned(order) }));
  await api.post("/v1/orders/asks/bulk", { chainId: market.chainId, listings });
};

/** The maker is a contract whose owner signs (EIP-1271). */
export const walletLists: Action = async (book) => {
  const { market, actors } = book;
  const { nft, owner } = await drawPunk(market, actors, punkRange);
  await owner.transfers(nft, actors.wallet);
  await submitListing(book, actors.wallet, { nft, priceWei: drawPriceWei(market, "erc721") });
};

export const bidsForToken: Action = async (book) => {
  const { market, actors } = book;
  const { nft, owner } = await drawPunk(market, actors);
  const { contract, tokenId } = nft;
  const bidder = drawOther(market, actors, owner);
  await submitBidFor(book, bidder, { contract, tokenId, priceWei: bidPriceWei(book) });
};

const bidsForCollectionOf =
  (quantity: bigint): Action =>
  async (book) => {
    const { nft, owner } = await drawPunk(book.market, book.actors);
    const bidder = drawOther(book.market, book.actors, owner);
    const { contract } = nft;
    await submitBidFor(book, bidder, { contract, priceWei: bidPriceWei(book), quantity });
  };

export const bidsForCollection = bidsForCollectionOf(1n);
export const bidsForSeveral = bidsForCollectionOf(3n);

/** On a fifth of the tokens of a collection. */
export const bidsForList: Action = async (book) => {
  const { market, actors } = book;
  const { contract, firstId, count } = punkRange;
  const tokenIds = Array.from({ length: Number(count) }, (_, n) => `${firstId + BigInt(n)}`);
  const criteria = { tokenIds: tokenIds.filter(() => market.random.below(5) === 0) };
  if (criteria.tokenIds.length === 0) return;
  const bidder = drawTrader(market, actors);
  const terms = { contract, priceWei: bidPriceWei(book), criteria };
  await submitBid(book, bidder, await composeCriteriaBid(book, bidder.address, terms));
};

const Traits = z.looseObject({
  traitTypes: z.array(
    z.looseObject({ type: z.string(), values: z.array(z.looseObject({ value: z.string() })) }),
  ),
});

/** On the tokens with a trait; nothing before metadata is read. */
export const bidsForTrait: Action = async (book) => {
  const { api, market, actors } = book;
  const { contract } = punkRange;
  const path = `/v1/collections/${contract}/traits?chainId=${market.chainId}`;
  const known = Traits.parse(await api.get(path)).traitTypes.flatMap(({ type, values }) =>
    values.map(({ value }) => ({ type, value })),
  );
  if (known.length === 0) return;
  const bidder = drawTrader(market, actors);
  const criteria = { traits: [drawOne(book, known)] };
  const terms = { contract, priceWei: bidPriceWei(book), criteria };
  await submitBid(book, bidder, await composeCriteriaBid(book, bidder.address, terms));
};

/** Below most listings. */
const bidPriceWei = ({ market }: OrderBook) => drawPriceWei(market, "erc721") / 4n;
