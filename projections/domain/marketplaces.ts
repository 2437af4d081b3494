import type { Address, Hex } from "viem";
import { partnerNames, partners } from "./partners.ts";

/** What identifies a marketplace in an exchange event or in its transaction. */
export type Marketplace = {
  /** Its name on the wire. The operator's own is `native`; its fee recipient is configuration. */
  readonly wire: string;
  readonly feeRecipients: readonly Address[];
  readonly zones: readonly Address[];
  /** Last four bytes of the calldata: the first four of the keccak hash of the marketplace's domain. */
  readonly calldataTags: readonly Hex[];
};

export const marketplaces: readonly Marketplace[] = [
  ...partnerNames.map((wire) => ({ wire, ...partners[wire] })),
  { wire: "blur", feeRecipients: [], zones: [], calldataTags: ["0x332d1229"] },
];
