import type { Address, Hex } from "viem";
import { type Marketplace, marketplaces } from "../domain/marketplaces.ts";

/** The wire name of each known key. */
function index<Key>(keys: (marketplace: Marketplace) => readonly Key[]): ReadonlyMap<Key, string> {
  return new Map(
    marketplaces.flatMap((each) => keys(each).map((key) => [key, each.wire] as const)),
  );
}

export const feeRecipients = index<Address>((each) => each.feeRecipients);
export const zones = index<Address>((each) => each.zones);
export const calldataTags = index<Hex>((each) => each.calldataTags);

export type Traces = {
  /** Who received fees, in log order. */
  readonly recipients: readonly Address[];
  readonly zones: readonly Address[];
  readonly calldataTail: Hex | null;
};

/** The marketplace that a sale belongs to: by who earned a fee, else by zone, else by the calldata's tag. */
export function marketplaceOf(traces: Traces, nativeRecipient: Address): string {
  for (const recipient of traces.recipients) {
    const earner = recipient === nativeRecipient ? "native" : feeRecipients.get(recipient);
    if (earner) return earner;
  }
  for (const zone of traces.zones) {
    const keeper = zones.get(zone);
    if (keeper) return keeper;
  }
  return (traces.calldataTail && calldataTags.get(traces.calldataTail)) ?? "unknown";
}
