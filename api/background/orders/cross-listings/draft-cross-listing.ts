import { type Address, zeroAddress } from "viem";
import { listingComponents } from "#projections/domain/seaport/draft-components.ts";
import { itemType, type OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { type PartnerFee, type PartnerTerms, partnerOrderForm } from "./partner-terms.ts";

export type CrossListingDraft = {
  fees: readonly PartnerFee[];
  /** Per unit, wei. */
  sellerNetWei: bigint;
  /** To be signed once times, salt and counter are filled in. */
  components: OrderComponents;
};

type ListingIntent = {
  maker: Address;
  contract: Address;
  tokenId: bigint;
  quantity: bigint;
  unitPriceWei: bigint;
  standard: "erc721" | "erc1155" | null;
};

/** Offset from the open to the restricted order types, which call the zone. Seaport `OrderType`. */
const restricted = 2;

/** The cross-listing at the listing's price with the partner's required fees; null: nothing can be signed. */
export function draftCrossListing(
  intent: ListingIntent,
  terms: PartnerTerms | undefined,
): CrossListingDraft | null {
  const { standard, unitPriceWei, quantity, maker } = intent;
  if (terms === undefined || standard === null) return null;
  const feeLegs = terms.fees
    .filter(({ isRequired }) => isRequired)
    .map(({ recipient, bps }) => ({ recipient, unitWei: (unitPriceWei * BigInt(bps)) / 10_000n }))
    .filter(({ unitWei }) => unitWei > 0n);
  const sellerNetWei = feeLegs.reduce((left, { unitWei }) => left - unitWei, unitPriceWei);
  if (sellerNetWei <= 0n) return null;
  const price = { unitPriceWei: sellerNetWei, fee: { recipient: maker, bps: 0 }, royalty: null };
  const placeholders = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter: 0n };
  const listing = listingComponents({
    ...placeholders,
    nft: { ...intent, standard },
    quantity,
    price,
  });
  const legs = feeLegs.map(({ recipient, unitWei }) => ({
    itemType: itemType.native,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    recipient,
    startAmount: unitWei * quantity,
    endAmount: unitWei * quantity,
  }));
  return {
    fees: terms.fees,
    sellerNetWei,
    components: {
      ...listing,
      zone: partnerOrderForm.zone,
      zoneHash: partnerOrderForm.zoneHash,
      conduitKey: partnerOrderForm.conduitKey,
      orderType: listing.orderType + restricted,
      consideration: [...listing.consideration, ...legs],
    },
  };
}
