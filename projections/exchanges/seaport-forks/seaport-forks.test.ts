import { type Address, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { addresses, givenTransaction, outcomeOf } from "../recorded-transactions.fixture.ts";
import { fulfilled, native, nft, to } from "../seaport/seaport.fixture.ts";
import { translateTransaction } from "../translate-sales.ts";

const [token, seller, buyer, creator] = addresses();

/** An order as the log stores the event. */
function order(more: Partial<ReturnType<typeof fulfilled>> = {}) {
  const offer = [nft(token, "7")];
  const consideration = [to(seller, native(950n)), to(creator, native(50n))];
  const { logIndex, exchange, version, ...args } = fulfilled({
    ...{ logIndex: 3, offerer: seller, recipient: buyer, offer, consideration, ...more },
  });
  return { event: "OrderFulfilled", args, logIndex };
}

describe("an exchange that emits Seaport's events", () => {
  it.each([
    ["Mintify", "mintify", "0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc"],
    ["Alienswap", "alienswap", "0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a"],
    ["Okx", "okx", "0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725"],
  ])("%s sells as Seaport does", (source, protocol, exchange) => {
    const { sales } = translateTransaction(givenTransaction(source, [order()]), zeroAddress);
    expect(sales).toMatchObject([
      {
        ...{ protocol, protocolVersion: "1.6", exchange, marketplace: protocol, side: "ask" },
        ...{ seller, buyer, tokenId: "7", totalWei: 1000n, via: null },
        fees: [{ recipient: creator, wei: 50n, kind: "other" }],
      },
    ]);
  });

  it("matches a bid with its mirror order as one sale", () => {
    const bid = { offerer: buyer, recipient: seller, offer: [native(1000n)] };
    const mirror = { offerer: seller, recipient: seller, offer: [nft(token, "7")] };
    const events = [
      order({ ...bid, logIndex: 3, consideration: [to(buyer, nft(token, "7"))] }),
      order({ ...mirror, logIndex: 4, consideration: [] }),
    ];
    expect(outcomeOf(givenTransaction("Mintify", events)).sales).toMatchObject([
      { side: "bid", seller, buyer, totalWei: "1000" },
    ]);
  });

  it("leaves unresolved an event whose arguments are none of Seaport's", () => {
    const broken = { ...order(), args: { offerer: seller } };
    expect(outcomeOf(givenTransaction("Mintify", [broken])).unresolved).toEqual(["undecodable"]);
  });
});

/** Recipients, zones and tags of Seaport sales on Ethereum and ApeChain. */
describe("the marketplace of a Seaport sale", () => {
  const sold = (more: Parameters<typeof order>[0]) =>
    translateTransaction(givenTransaction("Mintify", [order(more)]), zeroAddress).sales[0]
      ?.marketplace;
  const feeTo = (recipient: Address) => ({
    consideration: [to(seller, native(950n)), to(recipient, native(50n))],
  });

  it.each([
    ["opensea", "0x34ba0f2379bf9b81d09f7259892e26a8b0885095"],
    ["looksrare", "0x1838de7d4e4e42c8eb7b204a91e28e9fad14f536"],
    ["magiceden", "0x6fa303e72bed54f515a513496f922bc331e2f27e"],
    ["spaace", "0x0a993347f6eeaefa5c101028f793eea9f8c9cb28"],
  ] as const)("is %s by its fee recipient", (marketplace, recipient) => {
    expect(sold(feeTo(recipient))).toBe(marketplace);
  });

  it.each([
    ["blur", "0x0000000000d80cfcb8dfcd8b2c4fd9c813482938"],
    ["opensea", "0xf397619df7bfd4d1657ea9bdd9df7ff888731a11"],
    ["spaace", "0xcb560823fdb487f68361c0c6cc5fd9e6b7d54063"],
  ] as const)("is %s by its zone", (marketplace, zone) => {
    expect(sold({ zone })).toBe(marketplace);
  });
});
