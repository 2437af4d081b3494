import { concat, type Hex, keccak256, numberToHex, toRlp } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { growChain, orbitShape, usualBlocks } from "#test/reliability/chain/provable-chain.ts";
import { bloomOf, integer, trieRoot } from "#test/reliability/chain/trie-root.ts";
import { startFaultyNode } from "#test/reliability/node/faulty-node.ts";
import type { FaultyNode } from "#test/reliability/node/node-state.ts";

type WireReceipt = {
  type: Hex;
  status: Hex;
  cumulativeGasUsed: Hex;
  logsBloom: Hex;
  logs: { address: Hex; topics: Hex[]; data: Hex }[];
};
type WireBlock = Record<string, Hex> & { transactions: string[] };

/** Of EIP-2718: a legacy receipt has no type. */
function encodedReceipt({ type, status, cumulativeGasUsed, logsBloom, logs }: WireReceipt): Hex {
  const fields = toRlp([
    ...[integer(BigInt(status)), integer(BigInt(cumulativeGasUsed)), logsBloom],
    logs.map(({ address, topics, data }) => [address, topics, data]),
  ]);
  return type === "0x0" ? fields : concat([`0x${type.slice(2).padStart(2, "0")}`, fields]);
}

const headerFields = [
  ...["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot"],
  ...["logsBloom", "difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData"],
  ...["mixHash", "nonce", "baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas"],
  ...["parentBeaconBlockRoot", "requestsHash"],
];
const quantities = new Set([
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas"],
  ...["blobGasUsed", "excessBlobGas"],
]);

function headerHash(block: WireBlock): Hex {
  const fields = headerFields.flatMap((name) => {
    const value = block[name];
    if (value === undefined) return [];
    return [quantities.has(name) ? integer(BigInt(value)) : value];
  });
  return keccak256(toRlp(fields));
}

describe("roots and filters", () => {
  it("are those of a real node, of one transaction and of more than a trie's first branch holds", async () => {
    const anvil = await startAnvil({ chainId: 1, timestamp: 1_700_000_000 });
    try {
      const client = connect(anvil);
      const [account] = await client.getAddresses();
      if (account === undefined) throw new Error("there is no account");
      for (const count of [1, 2, 17, 140]) {
        await client.setAutomine(false);
        // Emits a log: topic 1 and memory of 32 bytes.
        for (let sent = 0; sent < count; sent += 1)
          await client.sendTransaction({ account, data: "0x600160206000a1", gas: 60_000n });
        await client.mine({ blocks: 1 });
        const request = (method: string) =>
          client.request({ method, params: ["latest", false] } as never);
        const block = (await request("eth_getBlockByNumber")) as WireBlock;
        const receipts = (await client.request({
          ...{ method: "eth_getBlockReceipts", params: ["latest"] },
        } as never)) as WireReceipt[];
        expect(receipts).toHaveLength(count);
        expect(trieRoot(receipts.map(encodedReceipt))).toBe(block.receiptsRoot);
        expect(bloomOf(receipts.flatMap(({ logs }) => logs))).toBe(block.logsBloom);
        expect(headerHash(block)).toBe(block.hash);
      }
    } finally {
      await anvil.stop();
    }
  });
});

describe.each([
  ["Ethereum", {}],
  ["an Orbit chain", orbitShape],
])("a generated chain like %s", (_name, shape) => {
  let node: FaultyNode;

  beforeAll(async () => {
    const chain = growChain([...usualBlocks(60), { moreMints: 1_200 }], shape);
    node = await startFaultyNode(chain);
    chain.replace(3, usualBlocks(5));
  });
  afterAll(() => node.close());

  it("proves each block by its header, parents and receipts", async () => {
    const ask = async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (
        (await (await fetch(node.url, { method: "POST", body })).json()) as { result: unknown }
      ).result;
    };
    const { blocks } = node.chain;
    for (const [index, { number, hash }] of blocks().entries()) {
      const block = (await ask("eth_getBlockByNumber", numberToHex(number), false)) as WireBlock;
      const receipts = (await ask("eth_getBlockReceipts", numberToHex(number))) as WireReceipt[];
      const logs = (await ask("eth_getLogs", { blockHash: hash })) as WireReceipt["logs"];
      expect(headerHash(block)).toBe(hash);
      if (index > 0) expect(block.parentHash).toBe(blocks()[index - 1]?.hash);
      expect(trieRoot(receipts.map(encodedReceipt))).toBe(block.receiptsRoot);
      expect(bloomOf(logs)).toBe(block.logsBloom);
      expect(receipts.flatMap((one) => one.logs)).toEqual(logs);
    }
  });
});
