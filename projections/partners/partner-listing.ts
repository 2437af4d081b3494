import { type Address, concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "../domain/partners.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import { type Observation, serializeBigints } from "../log/append.ts";

/** A listing of a partner: one token, a fixed price, Seaport 1.6. Wei are per unit. */
export type PartnerListing = {
  marketplace: PartnerName;
  chainId: ChainId;
  /** Computed from the components; what a partner says of it is compared and not believed. */
  orderHash: Hex;
  components: OrderComponents;
  /** Null where the partner hands it out with its fulfilment data alone. */
  signature: Hex | null;
  contract: Address;
  standard: "erc721" | "erc1155";
  tokenId: bigint;
  quantity: bigint;
  /** Null: the native currency; else the chain's wrapped one. */
  currency: Address | null;
  unitPriceWei: bigint;
  sellerNetWei: bigint;
  fees: readonly { recipient: Address; unitWei: bigint; kind: "service" | "royalty" | "other" }[];
};

/**
 * The fact that a partner lists an order. `generation` is the number of withdrawals before: repeated sightings are one
 * fact, a sighting after a withdrawal is another.
 */
export function partnerListingSeen(
  listing: PartnerListing,
  { generation, seenAt }: { generation: number; seenAt: Date },
): Observation {
  const { marketplace, chainId, orderHash, components, signature, contract } = listing;
  const { standard, tokenId, quantity, currency, unitPriceWei, sellerNetWei, fees } = listing;
  return {
    kind: "partner_listing_seen",
    chainId,
    contract,
    identity: identityOf("partner_listing_seen", listing, generation),
    recordedAt: seenAt,
    fromAddress: components.offerer,
    orderHash,
    tokenId,
    amount: quantity,
    payload: serializeBigints({
      marketplace,
      protocol: "seaport-1.6",
      components,
      signature,
      currency,
      terms: {
        side: "ask",
        contract,
        standard,
        tokenId,
        quantity,
        unitPriceWei,
        sellerNetWei,
        fees,
      },
    }),
  };
}

type Named = { marketplace: PartnerName; chainId: ChainId; orderHash: Hex };

/** The fact that a partner has withdrawn a listing. `generation`: of the `partner_listing_seen` that it ends. */
export function partnerListingWithdrawn(
  listing: Named & { contract: Address },
  { generation, seenAt, reason }: { generation: number; seenAt: Date; reason: string },
): Observation {
  return {
    kind: "partner_listing_withdrawn",
    chainId: listing.chainId,
    contract: listing.contract,
    identity: identityOf("partner_listing_withdrawn", listing, generation),
    recordedAt: seenAt,
    orderHash: listing.orderHash,
    payload: { marketplace: listing.marketplace, reason },
  };
}

function identityOf(
  kind: string,
  { marketplace, chainId, orderHash }: Named,
  generation: number,
): Hex {
  return keccak256(
    concatHex([
      stringToHex(`${kind} ${marketplace}`),
      toHex(chainId, { size: 4 }),
      orderHash,
      toHex(generation, { size: 8 }),
    ]),
  );
}
