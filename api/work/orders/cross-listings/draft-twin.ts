import { type Address, zeroAddress } from "viem";
import { listingComponents } from "../../../../projections/domain/seaport/listing-components.ts";
import {
  itemType,
  type OrderComponents,
} from "../../../../projections/domain/seaport/order-components.ts";
import { type TwinFee, type TwinTerms, twinForm } from "./twin-terms.ts";

export type TwinDraft = {
  fees: readonly TwinFee[];
  /** Per unit, wei. */
  sellerNetWei: bigint;
  /** To be signed once times, salt and counter are filled in. */
  components: OrderComponents;
};

type WishedTwin = {
  maker: Address;
  contract: Address;
  tokenId: bigint;
  quantity: bigint;
  unitPriceWei: bigint;
  standard: "erc721" | "erc1155" | null;
};

/** Order types from here on ask the order's zone. Seaport `OrderType`. */
const restricted = 2;

/** The twin at the same price, with what the partner requires taken of it; null where nothing can be signed. */
export function draftTwin(wish: WishedTwin, terms: TwinTerms | undefined): TwinDraft | null {
  const { standard, unitPriceWei, quantity, maker } = wish;
  if (terms === undefined || standard === null) return null;
  const taken = terms.fees
    .filter(({ isRequired }) => isRequired)
    .map(({ recipient, bps }) => ({ recipient, unitWei: (unitPriceWei * BigInt(bps)) / 10_000n }))
    .filter(({ unitWei }) => unitWei > 0n);
  const sellerNetWei = taken.reduce((left, { unitWei }) => left - unitWei, unitPriceWei);
  if (sellerNetWei <= 0n) return null;
  const price = { unitPriceWei: sellerNetWei, fee: { recipient: maker, bps: 0 }, royalty: null };
  const free = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter: 0n };
  const listing = listingComponents({ ...free, nft: { ...wish, standard }, quantity, price });
  const legs = taken.map(({ recipient, unitWei }) => ({
    ...{ itemType: itemType.native, token: zeroAddress, identifierOrCriteria: 0n, recipient },
    ...{ startAmount: unitWei * quantity, endAmount: unitWei * quantity },
  }));
  return {
    fees: terms.fees,
    sellerNetWei,
    components: {
      ...listing,
      zone: twinForm.zone,
      zoneHash: twinForm.zoneHash,
      conduitKey: twinForm.conduitKey,
      orderType: listing.orderType + restricted,
      consideration: [...listing.consideration, ...legs],
    },
  };
}
