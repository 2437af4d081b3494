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
  marketplace("blur", {
    zones: ["0x0000000000d80cfcb8dfcd8b2c4fd9c813482938"],
    calldataTags: ["0x332d1229"],
  }),
  marketplace("x2y2", {
    feeRecipients: ["0xd823c605807cc5e6bd6fc0d7e4eea50d3e2d66cd"],
    calldataTags: ["0xad016278"],
  }),
  marketplace("looksrare", {
    feeRecipients: [
      "0x1838de7d4e4e42c8eb7b204a91e28e9fad14f536",
      "0x5924a28caaf1cc016617874a2f0c3710d881f3c1",
    ],
    calldataTags: ["0xc4ac6e7e"],
  }),
  marketplace("foundation", { feeRecipients: ["0x67df244584b67e8c51b10ad610aaffa9a402fdb6"] }),
  marketplace("element", {
    feeRecipients: ["0x00ca62445b06a9adc1879a44485b4efdcb7b75f3"],
    calldataTags: ["0x6a632384"],
  }),
  marketplace("rarible", {
    feeRecipients: ["0x1cf0df2a5a20cd61d68d4489eebbf85b8d39e18a"],
    calldataTags: ["0x5f6388ab"],
  }),
  marketplace("spaace", {
    feeRecipients: ["0x0a993347f6eeaefa5c101028f793eea9f8c9cb28"],
    zones: ["0xcb560823fdb487f68361c0c6cc5fd9e6b7d54063"],
  }),
  marketplace("mintify", { calldataTags: ["0xdafbe190", "0x5d95ff4b"] }),
  marketplace("okx", { calldataTags: ["0x547220db"] }),
];

function marketplace(wire: string, known: Partial<Omit<Marketplace, "wire">>): Marketplace {
  return { feeRecipients: [], zones: [], calldataTags: [], ...known, wire };
}

/** Marketplaces of listings by their names on the wire. When several show one order, the first of these wins. */
export const listingMarketplaces = ["native", ...partnerNames] as const;
export type ListingMarketplace = (typeof listingMarketplaces)[number];
