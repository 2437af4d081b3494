import { type Address, toEventSelector, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  paymentProcessorAddresses,
  paymentProcessorEvents,
  paymentProcessorV1Events,
} from "#abis/payment-processor.ts";
import { wrappedNative } from "#chains/index.ts";
import {
  addresses,
  givenTransaction,
  moved,
  outcomeOf,
  paid,
} from "../recorded-transactions.fixture.ts";

describe("topics", () => {
  it.each([
    ["BuyListingERC721", "0xffb29e9cf48456d56b6d414855b66a7ec060ce2054dcb124a1876310e1b7355c"],
    ["BuyListingERC1155", "0x1217006325a98bdcc6afc9c44965bb66ac7460a44dc57c2ac47622561d25c45a"],
    ["AcceptOfferERC721", "0x8b87c0b049fe52718fe6ff466b514c5a93c405fb0de8fbd761a23483f9f9e198"],
    ["AcceptOfferERC1155", "0x6f4c56c4b9a9d2479f963d802b19d17b02293ce1225461ac0cb846c482ee3c3e"],
    ["NonceInvalidated", "0xf3003920635c7d35c4f314eaeeed4b4c653ccb36608a86d57df761d460eab09d"],
    [
      "MasterNonceInvalidated",
      "0x9614574d6542397172c19ba2bf4588434feeb977576e92b7b59b38242ab59609",
    ],
    [
      "OrderDigestInvalidated",
      "0xc63c82396a1b7865295ff481988a98493c2c3cc29066c229b8001c6f5dd647a9",
    ],
    ["NonceRestored", "0x86983746fe0ad3ad6fceb2a9aa2d498430d4343ec3c8fead646124f0615f4ba6"],
    ["OrderDigestOpened", "0x0363038f06c44447365467317554445fad3b007628b98200e08224f1aecb1c57"],
    [
      "OrderDigestItemsFilled",
      "0x0f72b72442c719b271089c5e7774fb382e47457791f8dc3b147e72c9c685df99",
    ],
    [
      "OrderDigestItemsRestored",
      "0x02c470cc26bb0c92da643e89f3654f5866091d4ae5af326c4face0f1611d736b",
    ],
    ["BuySingleListing", "0x7ed668b30822ae5c7db7b4a32f84e6645250bb6db0d1fc73eeb484c5b34b1d1b"],
    ["SweepCollectionERC721", "0x8435e05433e0d3a3fe612b10c36f6623deec79239f76721a154687fef0ca46a1"],
    [
      "SweepCollectionERC1155",
      "0x35cd37c73a78d0322074e1324a7d5d4cf5c7ff21f3265d03f4d085c532c6f019",
    ],
  ])("%s", (name, topic) => {
    const events = [...paymentProcessorEvents, ...paymentProcessorV1Events];
    const event = events.find((one) => one.name === name);
    expect(event && toEventSelector(event)).toBe(topic);
  });
});

const [contract, seller, buyer, creator, beneficiary, marketplace] = addresses();
const token = { contract, tokenId: "854" };
const trade = {
  ...{ buyer, seller, tokenAddress: contract, beneficiary: buyer, paymentCoin: zeroAddress },
  ...{ tokenId: "854", salePrice: "1000" },
};

type Options = NonNullable<Parameters<typeof givenTransaction>[2]>;

function outcome(event: string, args: Record<string, unknown>, given: Options = {}) {
  const transfers = given.transfers ?? [moved(9, token, [seller, buyer])];
  const source = /^(Buy|Accept|Nonce)/.test(event) && event !== "BuySingleListing" ? "" : "V1";
  const events = [{ event, args, logIndex: 10 }];
  return outcomeOf(givenTransaction(`PaymentProcessor${source}`, events, { ...given, transfers }));
}

describe("trades of version 2 and later", () => {
  it("of a listing", () => {
    expect(outcome("BuyListingERC721", trade).sales).toMatchObject([
      { exchange: "payment-processor", version: "2", side: "ask", seller, buyer, via: null },
    ]);
  });

  it("of an offer, of several units", () => {
    const transfers = [moved(9, token, [seller, buyer], "4")];
    const args = { ...trade, amount: "4" };
    expect(outcome("AcceptOfferERC1155", args, { transfers }).sales).toMatchObject([
      { side: "bid", quantity: "4", totalWei: "1000", seller, buyer },
    ]);
  });

  it("give the token to the beneficiary, who is the buyer", () => {
    const transfers = [moved(9, token, [seller, beneficiary])];
    const args = { ...trade, beneficiary };
    expect(outcome("BuyListingERC721", args, { transfers }).sales).toMatchObject([
      { buyer: beneficiary, via: buyer },
    ]);
  });

  it("at price zero are none: those of the exploit of 2026 among them", () => {
    const unresolved = outcome("AcceptOfferERC721", { ...trade, salePrice: "0" });
    expect(unresolved).toEqual({ sales: [], unresolved: ["zero_price"] });
  });

  it("paid in a coin show who got a part of it", () => {
    const coin = wrappedNative[1];
    const legs = (net: string) => [
      moved(7, token, [seller, buyer]),
      paid(8, coin, [buyer, creator], "50"),
      paid(9, coin, [buyer, seller], net),
    ];
    const args = { ...trade, paymentCoin: coin };
    const fees = (transfers: ReturnType<typeof legs>) =>
      outcome("BuyListingERC721", args, { transfers }).sales;
    expect(fees(legs("950"))).toMatchObject([{ totalWei: "1000", netWei: "950" }]);
    // Legs that are not the price prove nothing.
    expect(fees(legs("951"))).toMatchObject([{ totalWei: "1000", netWei: "1000" }]);
  });

  it("name their version", () => {
    for (const [version, [address]] of Object.entries(paymentProcessorAddresses)) {
      const given = givenTransaction(
        version === "1" ? "PaymentProcessorV1" : "PaymentProcessor",
        [
          {
            event: version === "1" ? "BuySingleListing" : "BuyListingERC721",
            args: { ...trade, amount: "1" },
            logIndex: 10,
          },
        ],
        { transfers: [moved(9, token, [seller, buyer])] },
      );
      const facts = given.facts.map((fact) => ({ ...fact, contract: address }));
      expect(outcomeOf({ ...given, facts }).sales).toMatchObject([{ version }]);
    }
  });

  it("have nonces beside them that are no sales", () => {
    const nonce = { nonce: "1", account: seller, wasCancellation: true };
    expect(outcome("NonceInvalidated", nonce)).toEqual({ sales: [], unresolved: [] });
  });
});

describe("trades of version 1", () => {
  const single = { ...trade, marketplace, amount: "1" };

  it("are of the order that the sender of the transaction took", () => {
    for (const [sender, side] of [
      [buyer, "ask"],
      [seller, "bid"],
    ] as const) {
      expect(outcome("BuySingleListing", single, { sender }).sales).toMatchObject([
        { version: "1", side, seller, buyer, totalWei: "1000" },
      ]);
    }
  });

  const sweep = {
    ...{ marketplace, tokenAddress: contract, paymentCoin: zeroAddress, buyer },
    unsuccessfulFills: [false, true, false],
    sellers: [seller, seller, creator] as Address[],
    ...{ tokenIds: ["1", "2", "3"], salePrices: ["10", "20", "30"] },
  };
  const swept = [
    moved(7, { contract, tokenId: "1" }, [seller, buyer]),
    moved(8, { contract, tokenId: "3" }, [creator, buyer]),
  ];

  it("of a sweep are those that were filled, each at its price", () => {
    const { sales, unresolved } = outcome("SweepCollectionERC721", sweep, { transfers: swept });
    expect(sales).toMatchObject([
      { tokenId: "1", totalWei: "10", seller, buyer },
      { tokenId: "3", totalWei: "30", seller: creator, buyer },
    ]);
    expect(unresolved).toEqual([]);
  });

  it("of a sweep whose lists differ in length are unresolved", () => {
    const args = { ...sweep, salePrices: ["10"] };
    const unresolved = outcome("SweepCollectionERC721", args, { transfers: swept });
    expect(unresolved).toEqual({ sales: [], unresolved: ["undecodable"] });
  });
});
