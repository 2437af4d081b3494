import { type Address, encodeFunctionData } from "viem";
import { commonConduit, seaport, wrappedNative } from "../../abis/deployments.ts";
import { seaportFunctions } from "../../abis/seaport.ts";
import { bidComponents } from "../../projections/domain/seaport/bid-components.ts";
import { criteriaProof, criteriaRoot } from "../../projections/domain/seaport/criteria.ts";
import { basicOrderForItemBid } from "../../projections/domain/seaport/fill.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import { matchBidWithMirror } from "../../projections/domain/seaport/mirror-order.ts";
import type { SignedOrder } from "../../projections/domain/seaport/order-components.ts";
import { type Tag, tagCalldata } from "./marketplace-tag.ts";
import type { Party, Venue } from "./party.ts";
import { readPrice, readTerms, signOrder } from "./signed-orders.ts";

/** `priceWei` is per unit. */
type Offer = { priceWei: bigint; quantity?: bigint };
type CollectionOffer = Offer & {
  standard: Nft["standard"];
  contract: Address;
  /** Only these ids; absent: every id. */
  tokenIds?: readonly bigint[];
};
type Acceptance = {
  tokenId: bigint;
  units?: bigint;
  /** The ids the bid was limited to. */
  tokenIds?: readonly bigint[];
  through?: Tag;
};

/** A mirror order is good for half an hour. */
const mirrorSeconds = 30n * 60n;

/** Bidding and selling into bids. */
export function bidding(venue: Venue, party: Party) {
  const currency = wrappedNative[venue.chainId];
  const exchange = seaport["1.6"];
  return {
    offers: async (wanted: Nft, { priceWei, quantity = 1n }: Offer): Promise<SignedOrder> => {
      const [terms, price] = await Promise.all([
        readTerms(venue, party.address),
        readPrice(venue, wanted, priceWei),
      ]);
      return signOrder(
        venue,
        party,
        bidComponents({ ...terms, wanted, quantity, price, currency }),
      );
    },

    offersForCollection: async (offer: CollectionOffer): Promise<SignedOrder> => {
      const { standard, contract, tokenIds, priceWei, quantity = 1n } = offer;
      const [terms, price] = await Promise.all([
        readTerms(venue, party.address),
        readPrice(venue, { contract, tokenId: tokenIds?.[0] ?? 0n }, priceWei),
      ]);
      const criteria = tokenIds === undefined ? 0n : criteriaRoot(tokenIds);
      const wanted = { standard, contract, criteria };
      return signOrder(
        venue,
        party,
        bidComponents({ ...terms, wanted, quantity, price, currency }),
      );
    },

    /** Sells into an offer for one token, by the basic order. */
    accepts: async (bid: SignedOrder, through?: Tag) => {
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "fulfillBasicOrder_efficient_6GL6yc",
        args: [basicOrderForItemBid(bid, commonConduit.key)],
      });
      return party.transact({ to: exchange, data: tagCalldata(data, through) });
    },

    /** Sells into an offer for a collection, matched with the seller's mirror of it. */
    acceptsForCollection: async (bid: SignedOrder, acceptance: Acceptance) => {
      const { tokenId, units = 1n, tokenIds, through } = acceptance;
      const startTime = await venue.sending.now();
      const matched = matchBidWithMirror(bid, {
        seller: party.address,
        tokenId,
        units,
        criteriaProof: tokenIds === undefined ? [] : criteriaProof(tokenIds, tokenId),
        startTime,
        endTime: startTime + mirrorSeconds,
        salt: venue.random.between(0n, 2n ** 128n),
      });
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "matchAdvancedOrders",
        args: [matched.orders, matched.criteriaResolvers, matched.fulfillments, matched.recipient],
      });
      return party.transact({ to: exchange, data: tagCalldata(data, through) });
    },
  };
}
