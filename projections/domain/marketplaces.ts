import type { Address, Hex } from "viem";

/**
 * What the service knows of a partner marketplace, apart from its API. Ids, parameter values, setting names and the
 * OpenAPI document follow from it.
 */
export type PartnerMarketplace = {
  /** Second name as a parameter's value, such as `partner_a`; in upper case the prefix of its settings. */
  readonly alias: `partner_${string}`;
  readonly displayName: string;
  /** `askId` of its listings: the order hash, or the partner's name, a hyphen and the order hash. */
  readonly askIdForm: "hash" | "prefixed";
  /** `partner`: its API must issue data for each buyer. `signature`: the signed order is enough. */
  readonly filledWith: "partner" | "signature";
  /** How its sales show on chain, see `Marketplace`. */
  readonly feeRecipients: readonly Address[];
  readonly zones: readonly Address[];
  readonly calldataTags: readonly Hex[];
};

/** Every partner by its name on the wire. When several show one order, the first of them wins. Append only. */
export const partners = {
  opensea: {
    alias: "partner_a",
    displayName: "OpenSea",
    askIdForm: "hash",
    filledWith: "partner",
    feeRecipients: [
      "0x0000a26b00c1f0df003000390027140000faa719",
      "0x8de9c5a032463c561423387a9648c5c7bcc5bc90",
      "0x5b3256965e7c3cf26e11fcaf296dfc8807c01073",
      "0x34ba0f2379bf9b81d09f7259892e26a8b0885095",
    ],
    zones: [
      "0x004c00500000ad104d7dbd00e3ae0a5c00560c00",
      "0x9b814233894cd227f561b78cc65891aa55c62ad2",
      "0x110b2b128a9ed1be5ef3232d8e4e41640df5c2cd",
      "0x000000e7ec00e7b300774b00001314b8610022b8",
      "0x000056f7000000ece9003ca63978907a00ffd100",
      "0xf397619df7bfd4d1657ea9bdd9df7ff888731a11",
    ],
    calldataTags: ["0x360c6ebe"],
  },
  magiceden: {
    alias: "partner_b",
    displayName: "Magic Eden",
    askIdForm: "prefixed",
    filledWith: "signature",
    feeRecipients: [
      "0x6fa303e72bed54f515a513496f922bc331e2f27e",
      "0xca9337244b5f04cb946391bc8b8a980e988f9a6a",
    ],
    zones: [],
    calldataTags: ["0x0e1c0c38"],
  },
} as const satisfies Record<string, PartnerMarketplace>;

export type PartnerName = keyof typeof partners;

export const partnerNames = Object.keys(partners) as PartnerName[];

/** Partner marketplaces whose listings are filled only with data from their API. */
export const partnersFillingByApi: readonly string[] = partnerNames.filter(
  (name) => partners[name].filledWith === "partner",
);

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
