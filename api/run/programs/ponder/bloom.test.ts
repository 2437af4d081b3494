import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { bytesToHex, type Hex, hexToBytes, keccak256 } from "viem";
import { expect, test } from "vitest";
import { ponderDirectory } from "../installed-paths.ts";
import { isInBloom } from "./bloom.ts";

type Bloom = { isInBloom: (bloom: Hex, input: Hex) => boolean };
const path = join(ponderDirectory, "dist/esm/sync-realtime/bloom.js");
const ponder: Bloom = await import(pathToFileURL(path).href);

const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => bytesToHex(bytes));
const value = fc.oneof(hexOf(20), hexOf(32));

/** As a node makes it (yellow paper, 4.3.1). */
function bloomOf(values: readonly Hex[]): Hex {
  const bloom = new Uint8Array(256);
  for (const hash of values.map((one) => hexToBytes(keccak256(one)))) {
    for (const at of [0, 2, 4]) {
      const bit = new DataView(hash.buffer, hash.byteOffset).getUint16(at) & 0x7ff;
      bloom[255 - Math.floor(bit / 8)] = (bloom[255 - Math.floor(bit / 8)] ?? 0) | (1 << (bit % 8));
    }
  }
  return bytesToHex(bloom);
}

test("a bloom filter holds what was put into it, and of other values what Ponder's own finds", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), fc.array(value), (within, others) => {
      const bloom = bloomOf(within);
      for (const one of within) expect(isInBloom(bloom, one)).toBe(true);
      for (const one of others) expect(isInBloom(bloom, one)).toBe(ponder.isInBloom(bloom, one));
    }),
  );
});

test("values of one bloom filter are not found in the next, and more are asked for than are kept", () => {
  const many = Array.from({ length: 25_000 }, (_, nth) =>
    keccak256(`0x${nth.toString(16).padStart(40, "0")}`),
  );
  const [first, second] = [many.slice(0, 40), many.slice(40, 80)].map(bloomOf) as [Hex, Hex];
  const found = (bloom: Hex) => many.filter((one) => isInBloom(bloom, one)).length;
  const expected = (bloom: Hex) => many.filter((one) => ponder.isInBloom(bloom, one)).length;
  expect([found(first), found(second), found(first)]).toEqual([
    expected(first),
    expected(second),
    expected(first),
  ]);
});
