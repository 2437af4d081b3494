import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import {
  areReceiptsOf,
  bloomOf,
  isHashOfHeader,
  mayHoldLogs,
  orderedTrieRoot,
  type RpcBlock,
  type RpcReceipt,
} from "./block-proof.ts";

/** The sources wrote numbers as numbers, decimal or hexadecimal text. */
const quantity = (value: unknown) =>
  value === undefined ? value : numberToHex(BigInt(value as string));
const quantities = (fields: object, ...names: string[]) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      names.includes(name) ? quantity(value) : value,
    ]),
  );

type Recorded = {
  header: RpcBlock;
  receipts: RpcReceipt[];
  verification: { receiptsRootComputed?: Hex };
};

// biome-ignore lint/style/noProcessEnv: the environment sets where the data is
const folder = join(process.env.REAL_DATA_DIR ?? "../shared/realdata", "blocks");
const blocks = existsSync(folder)
  ? readdirSync(folder).map((name) => [name, readRecorded(join(folder, name))] as const)
  : [];

function readRecorded(path: string): Recorded {
  const { header, receipts, ...block } = JSON.parse(
    `${gunzipSync(readFileSync(path))}`,
  ) as Recorded;
  return {
    ...block,
    header: quantities(
      header,
      "difficulty",
      "number",
      "gasLimit",
      "gasUsed",
      "timestamp",
      "baseFeePerGas",
    ) as RpcBlock,
    receipts: receipts.map(
      (one) => quantities(one, "type", "status", "cumulativeGasUsed") as RpcReceipt,
    ),
  };
}

describe.runIf(blocks.length > 0)("recorded blocks of Ethereum", () => {
  it.each(blocks)(
    "the receipts of %s are proved by their root, and none may be missing",
    (_, block) => {
      const root = block.header.receiptsRoot ?? block.verification.receiptsRootComputed;
      const header = { ...block.header, receiptsRoot: root };
      expect(areReceiptsOf(header, block.receipts)).toBe(true);
      expect(areReceiptsOf(header, block.receipts.slice(0, -1))).toBe(false);
      expect(areReceiptsOf(header, block.receipts.toReversed())).toBe(false);
    },
  );

  it.each(blocks.filter(([, { header }]) => header.extraData !== undefined))(
    "the hash of %s is that of its header",
    (_, { header }) => {
      expect(isHashOfHeader(header)).toBe(true);
      expect(isHashOfHeader({ ...header, receiptsRoot: orderedTrieRoot([]) })).toBe(false);
    },
  );

  it.each(blocks)("the bloom of %s holds its logs", (_, { header, receipts }) => {
    const logs = receipts.flatMap((receipt) => receipt.logs);
    const bloom = bloomOf(logs);
    if (header.logsBloom !== undefined) expect(bloom).toBe(header.logsBloom);
    for (const { address, topics } of logs)
      expect(mayHoldLogs(bloom, { address, topics: [...topics] })).toBe(true);
    for (const receipt of receipts) expect(bloomOf(receipt.logs)).toBe(receipt.logsBloom);
  });
});

describe("roots", () => {
  it("of nothing is the empty trie's", () => {
    expect(orderedTrieRoot([])).toBe(
      "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
    );
  });

  it.each([1, 2, 15, 16, 17, 127, 128, 129, 255, 256, 257, 1_000])(
    "of %i values changes with each",
    (count) => {
      const values = Array.from(
        { length: count },
        (_, nth): Hex => `0x${"ab".repeat((nth % 40) + 1)}`,
      );
      const changed = values.with(count - 1, "0x01");
      expect(orderedTrieRoot(changed)).not.toBe(orderedTrieRoot(values));
    },
  );
});
