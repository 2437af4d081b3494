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
