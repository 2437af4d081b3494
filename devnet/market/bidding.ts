import { type Address, encodeFunctionData } from "viem";
import { seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { wrappedNative } from "#chains/index.ts";
import { bidComponents, type Nft } from "#projections/domain/seaport/draft-components.ts";
import { criteriaProof, criteriaRoot, basicOrderForItemBid, matchBidWithMirror } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { type Tag, tagCalldata } from "./marketplace-tag.ts";
import { readPrice, readTerms, signOrder } from "./signed-orders.ts";
import type { MarketContext, Signer } from "./signer.ts";

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
  const exchange = seaport["1.6"];
  return {
    offers: async (wanted: Nft, { priceWei, quantity = 1n }: ItemOffer): Promise<SignedOrder> => {
      const [terms, price] = await Promise.all([
        readTerms(market, signer.address),
        readPrice(market, wanted, priceWei),
      ]);
      return signOrder(
        market,
        signer,
        bidComponents({ ...terms, nft: wanted, quantity, price, currency }),
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
        bidComponents({ ...terms, nft: wanted, quantity, price, currency }),
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
