import { encodeFunctionData, zeroHash } from "viem";
import { seaport } from "../../abis/deployments.ts";
import { seaportFunctions } from "../../abis/seaport.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
} from "../../projections/domain/seaport/bulk-order.ts";
import { advancedOrder, orderQuantity } from "../../projections/domain/seaport/fill.ts";
import {
  listingComponents,
  type Nft,
} from "../../projections/domain/seaport/listing-components.ts";
import type {
  OrderComponents,
  SignedOrder,
} from "../../projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "../../projections/domain/seaport/order-hash.ts";
import type { Price } from "../../projections/domain/seaport/price-legs.ts";
import { type Tag, tagCalldata } from "./marketplace-tag.ts";
import type { Party, Venue } from "./party.ts";
import { readPrice, readTerms, signOrder } from "./signed-orders.ts";

type Ask = {
  nft: Nft;
  /** Per unit. */
  priceWei: bigint;
  quantity?: bigint;
  /** The service's when absent. */
  fee?: Price["fee"];
};

/** Listing and buying. Orders are signed, not published: who holds one can fill it. */
export function selling(venue: Venue, party: Party) {
  const listing = async ({ nft, priceWei, quantity = 1n, fee }: Ask): Promise<OrderComponents> => {
    const [terms, price] = await Promise.all([
      readTerms(venue, party.address),
      readPrice(venue, nft, priceWei, fee),
    ]);
    return listingComponents({ ...terms, nft, quantity, price });
  };
  return {
    lists: async (nft: Nft, ask: Omit<Ask, "nft">): Promise<SignedOrder> => {
      return signOrder(venue, party, await listing({ nft, ...ask }));
    },

    /** Several tokens for one price, all or none. */
    listsBundle: async (nfts: readonly [Nft, ...Nft[]], priceWei: bigint): Promise<SignedOrder> => {
      const components = await listing({ nft: nfts[0], priceWei });
      const offer = components.offer.flatMap((item) =>
        nfts.map((nft) => ({ ...item, token: nft.contract, identifierOrCriteria: nft.tokenId })),
      );
      return signOrder(venue, party, { ...components, offer });
    },

    /** One signature over a tree of listings. */
    listsInBulk: async (asks: readonly Ask[]): Promise<SignedOrder[]> => {
      const orders = await Promise.all(asks.map(listing));
      const { root, height, proofs } = bulkOrderTree(orders.map(orderHash));
      const domain = exchangeDomain(venue.chainId);
      const base = await party.sign(signingDigest(bulkOrderHash(root, height), domain));
      return orders.map((components, index) => ({
        components,
        signature: bulkSignature(base, index, proofs[index] ?? []),
      }));
    },

    /** All that is left of the listing, or `units` of it. */
    buys: async (order: SignedOrder, options: { units?: bigint; through?: Tag } = {}) => {
      const { units, through } = options;
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "fulfillAdvancedOrder",
        args: [advancedOrder(order, units), [], zeroHash, party.address],
      });
      const value = askedWei(order.components, units ?? orderQuantity(order.components));
      return party.transact({ to: seaport["1.6"], data: tagCalldata(data, through), value });
    },
  };
}

/** The exchange gives back what a clamped fill does not need. */
function askedWei(components: OrderComponents, units: bigint): bigint {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (wholeWei * units) / orderQuantity(components);
}
