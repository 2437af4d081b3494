import type { Address, Hex } from "viem";
import { type Marketplace, marketplaces } from "#projections/domain/marketplaces.ts";

function wireNamesBy<Key>(
  keys: (marketplace: Marketplace) => readonly Key[],
): ReadonlyMap<Key, string> {
  return new Map(
    marketplaces.flatMap((each) => keys(each).map((key) => [key, each.wire] as const)),
  );
}

/** Wire names of marketplaces by what gives them away. */
export const feeRecipients = wireNamesBy<Address>((each) => each.feeRecipients);
export const zones = wireNamesBy<Address>((each) => each.zones);
export const calldataTags = wireNamesBy<Hex>((each) => each.calldataTags);

export type AttributionHints = {
  /** Who received fees, in log order. */
  readonly recipients: readonly Address[];
  readonly zones: readonly Address[];
  readonly calldataTail: Hex | null;
};

/** The marketplace of a sale: by who received a fee, else by zone, else by the calldata's tag. */
export function attributeMarketplace(
  hints: AttributionHints,
  nativeRecipient: Address,
): string | undefined {
  for (const recipient of hints.recipients) {
    const marketplace = recipient === nativeRecipient ? "native" : feeRecipients.get(recipient);
    if (marketplace) return marketplace;
  }
  for (const zone of hints.zones) {
    const marketplace = zones.get(zone);
    if (marketplace) return marketplace;
  }
  return hints.calldataTail ? calldataTags.get(hints.calldataTail) : undefined;
}
