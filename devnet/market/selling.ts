import { type Address, concatHex, encodeFunctionData, type Hex, zeroHash } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { wrappedNative } from "#chains/index.ts";
import { marketplaces } from "#projections/domain/marketplaces.ts";
import { criteriaProof, criteriaRoot } from "#projections/domain/seaport/criteria.ts";
import {
  draftBidComponents,
  draftListingComponents,
  type Nft,
  type Price,
} from "#projections/domain/seaport/draft-components.ts";
import {
  advancedOrder,
  basicOrderForItemBid,
  matchBidWithMirror,
  orderQuantity,
} from "#projections/domain/seaport/fill.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { readPrice, readTerms, signBulkOrder, signOrder } from "./signed-orders.ts";
import type { MarketContext, Signer } from "./signer.ts";

type ListingInput = {
  nft: Nft;
  /** Per unit. */
  priceWei: bigint;
  quantity?: bigint;
  /** Default: the service's fee. */
  fee?: Price["fee"];
};

/** Listing and buying. Orders are signed but not published: anyone who has one can fill it. */
export function selling(market: MarketContext, signer: Signer) {
  const composeListing = async ({
    nft,
    priceWei,
    quantity = 1n,
    fee,
  }: ListingInput): Promise<OrderComponents> => {
    const [terms, price] = await Promise.all([
      readTerms(market, signer.address),
      readPrice(market, nft, priceWei, fee),
    ]);
    return draftListingComponents({ ...terms, nft, quantity, price });
  };
  return {
    lists: async (nft: Nft, input: Omit<ListingInput, "nft">): Promise<SignedOrder> => {
      return signOrder(market, signer, await composeListing({ nft, ...input }));
    },

    /** Several tokens for one price, sold together. */
    listsBundle: async (nfts: readonly [Nft, ...Nft[]], priceWei: bigint): Promise<SignedOrder> => {
      const components = await composeListing({ nft: nfts[0], priceWei });
      const offer = components.offer.flatMap((item) =>
        nfts.map((nft) => ({ ...item, token: nft.contract, identifierOrCriteria: nft.tokenId })),
      );
      return signOrder(market, signer, { ...components, offer });
    },

    /** One signature over a tree of listings. */
    listsInBulk: async (inputs: readonly ListingInput[]): Promise<SignedOrder[]> =>
      signBulkOrder(market, signer, await Promise.all(inputs.map(composeListing))),

    /** Buys `units` of the listing, by default all that remain. */
    buys: async (order: SignedOrder, options: { units?: bigint; through?: Tag } = {}) => {
      const { units, through } = options;
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "fulfillAdvancedOrder",
        args: [advancedOrder(order, units), [], zeroHash, signer.address],
      });
      const value = totalWei(order.components, units ?? orderQuantity(order.components));
      return signer.transact({
        to: seaportAddresses["1.6"],
        data: tagCalldata(data, through),
        value,
      });
    },
  };
}

/** Seaport refunds the part of the value that a smaller fill does not need. */
function totalWei(components: OrderComponents, units: bigint): bigint {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (wholeWei * units) / orderQuantity(components);
}

/** `priceWei` is per unit. */
type ItemOffer = { priceWei: bigint; quantity?: bigint };
type CollectionOffer = ItemOffer & {
  standard: Nft["standard"];
  contract: Address;
  /** The ids it is limited to; default: every id. */
  tokenIds?: readonly bigint[];
};
type Acceptance = {
  tokenId: bigint;
  units?: bigint;
  /** The ids the bid is limited to, for its Merkle proof. */
  tokenIds?: readonly bigint[];
  through?: Tag;
};

/** How long the seller's mirror order is valid. */
const mirrorSeconds = 30n * 60n;

/** Bidding and selling into bids. */
export function bidding(market: MarketContext, signer: Signer) {
  const currency = wrappedNative[market.chainId];
  const exchange = seaportAddresses["1.6"];
  return {
    offers: async (wanted: Nft, { priceWei, quantity = 1n }: ItemOffer): Promise<SignedOrder> => {
      const [terms, price] = await Promise.all([
        readTerms(market, signer.address),
        readPrice(market, wanted, priceWei),
      ]);
      return signOrder(
        market,
        signer,
        draftBidComponents({ ...terms, nft: wanted, quantity, price, currency }),
      );
    },

    offersForCollection: async (offer: CollectionOffer): Promise<SignedOrder> => {
      const { standard, contract, tokenIds, priceWei, quantity = 1n } = offer;
      const [terms, price] = await Promise.all([
        readTerms(market, signer.address),
        readPrice(market, { contract, tokenId: tokenIds?.[0] ?? 0n }, priceWei),
      ]);
      const criteria = tokenIds === undefined ? 0n : criteriaRoot(tokenIds);
      const wanted = { standard, contract, criteria };
      return signOrder(
        market,
        signer,
        draftBidComponents({ ...terms, nft: wanted, quantity, price, currency }),
      );
    },

    /** Sells into a bid for one token with `fulfillBasicOrder`. */
    accepts: async (bid: SignedOrder, through?: Tag) => {
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "fulfillBasicOrder_efficient_6GL6yc",
        args: [basicOrderForItemBid(bid)],
      });
      return signer.transact({ to: exchange, data: tagCalldata(data, through) });
    },

    /** Sells into a collection bid by matching it with the seller's mirror order. */
    acceptsForCollection: async (bid: SignedOrder, acceptance: Acceptance) => {
      const { tokenId, units = 1n, tokenIds, through } = acceptance;
      const startTime = await market.sending.now();
      const matched = matchBidWithMirror(bid, {
        seller: signer.address,
        tokenId,
        units,
        criteriaProof: tokenIds === undefined ? [] : criteriaProof(tokenIds, tokenId),
        startTime,
        endTime: startTime + mirrorSeconds,
        salt: market.random.between(0n, 2n ** 128n),
      });
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "matchAdvancedOrders",
        args: [matched.orders, matched.criteriaResolvers, matched.fulfillments, matched.recipient],
      });
      return signer.transact({ to: exchange, data: tagCalldata(data, through) });
    },
  };
}

/** Four bytes after the calldata that identify the marketplace of a fill; the exchange ignores them. */
export type Tag = Hex;

/** The tags that known marketplaces append. */
export const knownTags: readonly Tag[] = marketplaces.flatMap(({ calldataTags }) => calldataTags);

function tagCalldata(data: Hex, tag: Tag | undefined): Hex {
  return tag === undefined ? data : concatHex([data, tag]);
}
