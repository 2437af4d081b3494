import { encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  addresses,
  expectedRows,
  givenTransaction,
  moved,
  outcomeOf,
  recordedTransactions,
  transactionOf,
} from "../recorded-transactions.fixture.ts";

describe("recorded transactions", () => {
  it.each(recordedTransactions("x2y2"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [contract, maker, taker, bidder, delegate] = addresses();
const itemHash: Hex = `0x${"9".repeat(64)}`;
const weth = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const feeManager = "0xd823c605807cc5e6bd6fc0d7e4eea50d3e2d66cd";
const token = { contract, tokenId: "7" };

function pairs(...ids: bigint[]): Hex {
  const tuples = ids.map((tokenId) => ({ contract, tokenId }));
  return encodeAbiParameters(parseAbiParameters("(address contract, uint256 tokenId)[]"), [tuples]);
}

function inventory(op: number, given: Record<string, unknown> = {}) {
  const { data = pairs(7n), price = "1000000", ...rest } = given;
  const fees = [{ percentage: "5000", to: feeManager }];
  return {
    event: "EvInventory",
    logIndex: 10,
    args: {
      ...{ itemHash, maker, taker, intent: "1", delegateType: "1", currency: weth },
      item: { price, data },
      detail: { op, price, fees },
      ...rest,
    },
  };
}

const outcome = (
  event: ReturnType<typeof inventory>,
  transfers = [moved(9, token, [maker, taker])],
) => outcomeOf(givenTransaction("X2Y2", [event], { transfers }));

describe("EvInventory", () => {
  it("of a taken bid: the maker buys", () => {
    const transfers = [moved(9, token, [taker, maker])];
    expect(outcome(inventory(2, { intent: "3" }), transfers).sales).toMatchObject([
      { side: "bid", seller: taker, buyer: maker, currency: weth, netWei: "995000" },
    ]);
  });

  it("of an auction: its winner is who is given the token that was held until then", () => {
    const event = inventory(5, { intent: "2", taker: zeroAddress });
    const transfers = [moved(9, token, [delegate, bidder])];
    expect(outcome(event, transfers).sales).toMatchObject([
      { side: "bid", seller: maker, buyer: bidder },
    ]);
    expect(outcome(event, []).unresolved).toEqual(["transfer_missing"]);
  });

  it("of several tokens: a sale each, the price in parts", () => {
    const transfers = ["7", "8"].map((id, index) => {
      return moved(index, { contract, tokenId: id }, [maker, taker]);
    });
    const event = inventory(1, { data: pairs(7n, 8n), price: "1000001" });
    expect(outcome(event, transfers).sales).toMatchObject([
      { tokenId: "7", totalWei: "500001" },
      { tokenId: "8", totalWei: "500000" },
    ]);
  });

  it("of an ERC-1155: its units are in the data", () => {
    const data = encodeAbiParameters(
      parseAbiParameters("(address contract, uint256 tokenId, uint256 units)[]"),
      [[{ contract, tokenId: 7n, units: 3n }]],
    );
    const transfers = [moved(9, token, [maker, taker], "3")];
    expect(outcome(inventory(1, { delegateType: "2", data }), transfers).sales).toMatchObject([
      { tokenId: "7", quantity: "3", totalWei: "1000000" },
    ]);
  });

  it.each([3, 4, 6, 7])("with operation %d sells nothing", (op) => {
    expect(outcome(inventory(op))).toEqual({ sales: [], unresolved: [] });
  });

  it.each([
    ["an unknown kind of token", { delegateType: "3" }, "unknown_type"],
    ["data that are none", { data: "0x1234" }, "undecodable"],
    ["no token", { data: pairs() }, "undecodable"],
    ["no price", { price: "0" }, "zero_price"],
  ])("of %s is unresolved", (_, given, reason) => {
    expect(outcome(inventory(1, given)).unresolved).toEqual([reason]);
  });
});
