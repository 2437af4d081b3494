import { type Hex, numberToHex } from "viem";

/** What decides how much an offer binds. All in wei, of the currency in which it pays. */
export type OfferFunds = {
  /** Of the whole offer. */
  readonly offerWei: bigint;
  readonly balanceWei: bigint;
  /** What the maker's other open offers may spend of the same balance. */
  readonly openBidsWei: bigint;
};

/** What an offer can really spend: its part of a balance that all open offers of its maker share. */
export function spendableWei({ offerWei, balanceWei, openBidsWei }: OfferFunds): bigint {
  const totalWei = offerWei + openBidsWei;
  return totalWei <= balanceWei ? offerWei : (offerWei * balanceWei) / totalWei;
}

/** An offer below this part of the lowest listing is far from a trade: nobody risks anything with it. */
const farFromFloor = 10n;
/** All offers below 10^14 wei count as equally small. */
const smallestDigits = 14;

/**
 * Whether an offer is so close to a trade that it needs no budget where the collection is verified: it is near the
 * lowest listing, and it is as good as its word.
 */
export function isSerious(unitPriceWei: bigint, floorWei: bigint | null, funds: OfferFunds) {
  const isCovered = spendableWei(funds) * farFromFloor >= funds.offerWei;
  return floorWei !== null && !isFar(unitPriceWei, floorWei) && isCovered;
}

const isFar = (unitPriceWei: bigint, floorWei: bigint | null) =>
  floorWei !== null && unitPriceWei * farFromFloor < floorWei;

/**
 * The class of size of an offer, whose offers share a budget: small ones never use up that of larger ones, nor those
 * far below the lowest listing that of those near it. One byte.
 */
export function offerSize(unitPriceWei: bigint, floorWei: bigint | null, funds: OfferFunds): Hex {
  const digits = Math.max(smallestDigits, `${spendableWei(funds)}`.length);
  return numberToHex(digits + (isFar(unitPriceWei, floorWei) ? 128 : 0), { size: 1 });
}
