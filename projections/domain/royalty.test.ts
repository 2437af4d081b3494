import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { chainIds } from "#chains/index.ts";
import { applicableRoyalty, type RoyaltySources } from "./royalty.ts";

const partner = { recipient: "0x00000000000000000000000000000000000000A1", bps: 250 } as const;
const erc2981 = {
  recipient: "0x00000000000000000000000000000000000000b2",
  royaltyWei: 7n,
} as const;
const configured = { recipient: "0x00000000000000000000000000000000000000c3", bps: 500 } as const;
const all: RoyaltySources = { operator: null, partner, erc2981, configured };

const sourceOf = (chainId: 1 | 33139, sources: RoyaltySources) =>
  applicableRoyalty(chainId, 1_000n, sources)?.source ?? null;

describe("applicableRoyalty", () => {
  it("uses the partner, then the contract, then on Ethereum the configuration", () => {
    expect(sourceOf(1, all)).toBe("partner");
    expect(sourceOf(1, { ...all, partner: null })).toBe("erc2981");
    expect(sourceOf(1, { ...all, partner: null, erc2981: null })).toBe("configured");
    expect(sourceOf(33139, { ...all, partner: null, erc2981: null })).toBeNull();
    expect(sourceOf(1, { ...all, partner: null, erc2981: null, configured: null })).toBeNull();
  });

  it("skips a source without recipient or amount", () => {
    const noRecipient = { ...erc2981, recipient: zeroAddress };
    const nothing = { ...erc2981, royaltyWei: 0n };

    expect(sourceOf(1, { ...all, partner: { ...partner, bps: 0 } })).toBe("erc2981");
    expect(sourceOf(1, { ...all, partner: null, erc2981: noRecipient })).toBe("configured");
    expect(sourceOf(1, { ...all, partner: null, erc2981: nothing })).toBe("configured");
  });

  it("an operator's decision wins on both chains, also where it says none", () => {
    const operator = { recipient: "0x00000000000000000000000000000000000000d4", bps: 100 } as const;
    const none = { recipient: zeroAddress, bps: 0 };
    for (const chainId of chainIds) {
      expect(applicableRoyalty(chainId, 1_000n, { ...all, operator })).toEqual({
        ...{ recipient: operator.recipient, royaltyWei: 10n, source: "configured" },
      });
      expect(applicableRoyalty(chainId, 1_000n, { ...all, operator: none })).toBeNull();
    }
  });

  it("rounds a share down and names the recipient in lower case", () => {
    expect(applicableRoyalty(1, 1_999n, all)).toEqual({
      recipient: "0x00000000000000000000000000000000000000a1",
      royaltyWei: 49n,
      source: "partner",
    });
  });

  it("takes the contract's own amount as it is", () => {
    expect(applicableRoyalty(33139, 1_999n, { ...all, partner: null })).toEqual({
      ...erc2981,
      source: "erc2981",
    });
  });
});
