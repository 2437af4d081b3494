import { encodeAbiParameters, type Hex, pad, toEventSelector } from "viem";
import { expect, it } from "vitest";
import { nativeTransferLogs } from "#projections/exchanges/model/exchange.ts";
import { maxTransfers, parseTransfers } from "./fetch-transfers.ts";

const address = pad("0x01", { size: 20 });
const selector = toEventSelector(
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
);

function batch(entries: number) {
  const numbers = Array.from({ length: entries }, (_, index) => BigInt(index));
  const data = encodeAbiParameters(
    [{ type: "uint256[]" }, { type: "uint256[]" }],
    [numbers, numbers],
  );
  const topics: Hex[] = [selector, ...[1, 2, 3].map(() => pad(address))];
  return { address, topics, data, logIndex: 4 };
}

it("returns up to 5,000 transfers of a transaction, of more none", () => {
  expect(maxTransfers).toBe(5_000);
  expect(parseTransfers([batch(2_000), batch(3_000)])).toHaveLength(maxTransfers);
  expect(parseTransfers([batch(2_000), batch(3_001)])).toEqual([]);
});

it("leaves out logs of ether's transfers (EIP-7708)", () => {
  const topics = [toEventSelector("Transfer(address,address,uint256)"), pad(address), pad(address)];
  const coin = { address, topics, data: pad("0x07"), logIndex: 5 };
  const ether = { ...coin, address: nativeTransferLogs, logIndex: 6 };
  expect(parseTransfers([ether, coin, ether]).map(({ logIndex }) => logIndex)).toEqual([5]);
});
