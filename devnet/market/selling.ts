import { encodeFunctionData, zeroHash } from "viem";
import { seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { advancedOrder, orderQuantity } from "#projections/domain/seaport/fill.ts";
import { listingComponents, type Nft, type Price } from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { type Tag, tagCalldata } from "./marketplace-tag.ts";
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
    return listingComponents({ ...terms, nft, quantity, price });
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
      return signer.transact({ to: seaport["1.6"], data: tagCalldata(data, through), value });
    },
  };
}

/** Seaport refunds the part of the value that a smaller fill does not need. */
function totalWei(components: OrderComponents, units: bigint): bigint {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (wholeWei * units) / orderQuantity(components);
}
