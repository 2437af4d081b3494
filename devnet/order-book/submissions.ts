import { contracts } from "../contracts/addresses.ts";
import type { Actor } from "../market/actors.ts";
import {
  drawEdition,
  drawOther,
  drawPriceWei,
  drawPunk,
  editionIds,
  punkRange,
} from "../market/seed-tokens.ts";
import { signBulkOrder, signOrder } from "../market/signed-orders.ts";
import {
  type BidTerms,
  composeBid,
  composeListing,
  type ListingTerms,
  type OrderBook,
  presentSigned,
} from "./signing.ts";

/** Something that one of the people does on the order book. */
export type Action = (book: OrderBook) => Promise<void>;

export async function submitListing(book: OrderBook, maker: Actor, terms: ListingTerms) {
  const { api, market } = book;
  const order = await signOrder(market, maker, await composeListing(book, maker.address, terms));
  const { chainId } = market;
  await api.post("/v1/orders/asks", { chainId, seaport: presentSigned(order) });
}

async function submitBid(book: OrderBook, bidder: Actor, terms: BidTerms) {
  const { api, market } = book;
  const composed = await composeBid(book, bidder.address, terms);
  const { components, lackingWei, allowanceWei } = composed;
  if (lackingWei > 0n) await bidder.wraps(lackingWei);
  if (allowanceWei !== null) await bidder.allows(allowanceWei);
  const seaport = presentSigned(await signOrder(market, bidder, components));
  await api.post("/v1/orders/bids", { chainId: market.chainId, seaport });
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
  await submitBid(book, bidder, { contract, tokenId, priceWei: bidPriceWei(book) });
};

const bidsForCollectionOf =
  (quantity: bigint): Action =>
  async (book) => {
    const { nft, owner } = await drawPunk(book.market, book.actors);
    const bidder = drawOther(book.market, book.actors, owner);
    const { contract } = nft;
    await submitBid(book, bidder, { contract, priceWei: bidPriceWei(book), quantity });
  };

export const bidsForCollection = bidsForCollectionOf(1n);
export const bidsForSeveral = bidsForCollectionOf(3n);

/** Below most listings. */
const bidPriceWei = ({ market }: OrderBook) => drawPriceWei(market, "erc721") / 4n;
