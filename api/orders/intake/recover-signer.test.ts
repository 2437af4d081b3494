import fc from "fast-check";
import { concatHex, type Hex, numberToHex, recoverAddress, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { recoverSigner } from "./parse.ts";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));

/** Lower case, or null where recovery fails. */
async function either(find: () => Promise<string | null>): Promise<string | null> {
  return await find().then(
    (signer) => signer?.toLowerCase() ?? null,
    () => null,
  );
}

const agree = async (hash: Hex, signature: Hex) =>
  expect(await either(() => recoverSigner({ hash, signature }))).toBe(
    await either(() => recoverAddress({ hash, signature })),
  );

describe("the signer of a digest", () => {
  it("equals viem's, for signatures and for their high-s counterparts", async () => {
    await fc.assert(
      fc.asyncProperty(bytes32, bytes32, async (key, hash) => {
        fc.pre(BigInt(key) > 0n && BigInt(key) < order);
        const signature = await privateKeyToAccount(key).sign({ hash });
        await agree(hash, signature);
        const s = order - BigInt(`0x${signature.slice(66, 130)}`);
        const flippedV = signature.endsWith("1b") ? "0x1c" : "0x1b";
        const r: Hex = `0x${signature.slice(2, 66)}`;
        await agree(hash, concatHex([r, numberToHex(s, { size: 32 }), flippedV]));
      }),
      { numRuns: 50 },
    );
  });

  it("equals viem's, or is null, for any bytes", async () => {
    const parity = fc.constantFrom<Hex>("0x1b", "0x1c");
    const edge = fc.constantFrom(0n, 1n, order - 1n, order, order + 1n, 2n ** 256n - 1n);
    const word = fc.oneof(
      bytes32,
      edge.map((value) => numberToHex(value, { size: 32 })),
    );
    await fc.assert(
      fc.asyncProperty(bytes32, word, word, parity, async (hash, r, s, v) => {
        await agree(hash, concatHex([r, s, v]));
      }),
      { numRuns: 200 },
    );
  });
});
