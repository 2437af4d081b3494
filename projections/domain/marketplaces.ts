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
  ofFees("x2y2", "0xd823c605807cc5e6bd6fc0d7e4eea50d3e2d66cd"),
  ofFees(
    "looksrare",
    "0x1838de7d4e4e42c8eb7b204a91e28e9fad14f536",
    "0x5924a28caaf1cc016617874a2f0c3710d881f3c1",
  ),
  ofFees("foundation", "0x67df244584b67e8c51b10ad610aaffa9a402fdb6"),
  ofFees("element", "0x00ca62445b06a9adc1879a44485b4efdcb7b75f3"),
  ofFees("rarible", "0x1cf0df2a5a20cd61d68d4489eebbf85b8d39e18a"),
];

/** A marketplace that its fee recipients alone give away. */
function ofFees(wire: string, ...feeRecipients: Address[]): Marketplace {
  return { wire, feeRecipients, zones: [], calldataTags: [] };
}
