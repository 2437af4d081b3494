import type { Address, Hex } from "viem";

/** How a marketplace shows in an exchange event or in the transaction that caused it. */
export type Marketplace = {
  /** Its name on the wire. The operator's own is `native`; its fee recipient is configuration. */
  readonly wire: string;
  readonly feeRecipients: readonly Address[];
  readonly zones: readonly Address[];
  /** Last four bytes of the calldata: the first four of the keccak hash of the marketplace's domain. */
  readonly calldataTags: readonly Hex[];
};

export const marketplaces: readonly Marketplace[] = [
  {
    wire: "opensea",
    feeRecipients: [
      "0x0000a26b00c1f0df003000390027140000faa719",
      "0x8de9c5a032463c561423387a9648c5c7bcc5bc90",
      "0x5b3256965e7c3cf26e11fcaf296dfc8807c01073",
    ],
    zones: [
      "0x004c00500000ad104d7dbd00e3ae0a5c00560c00",
      "0x9b814233894cd227f561b78cc65891aa55c62ad2",
      "0x110b2b128a9ed1be5ef3232d8e4e41640df5c2cd",
      "0x000000e7ec00e7b300774b00001314b8610022b8",
      "0x000056f7000000ece9003ca63978907a00ffd100",
    ],
    calldataTags: ["0x360c6ebe"],
  },
  {
    wire: "magiceden",
    feeRecipients: [
      "0x6fa303e72bed54f515a513496f922bc331e2f27e",
      "0xca9337244b5f04cb946391bc8b8a980e988f9a6a",
    ],
    zones: [],
    calldataTags: ["0x0e1c0c38"],
  },
  { wire: "blur", feeRecipients: [], zones: [], calldataTags: ["0x332d1229"] },
];
