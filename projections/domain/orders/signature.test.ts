import { existsSync, readFileSync } from "node:fs";
import { env } from "node:process";
import {
  concatHex,
  type Hex,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  size,
  slice,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import type { OrderComponents } from "../seaport/order-components.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
  exchangeDomain,
  orderHash,
  signingDigest,
} from "../seaport/order-hash.ts";
import { isBulkSignature, validateCounter, verifySignature } from "../seaport/signature.ts";
import { orders, withChanges } from "./orders.fixture.ts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const components = withChanges(orders.listing, { offerer: account.address.toLowerCase() });
const hash = orderHash(components);
const digest = signingDigest(hash, exchangeDomain(1));
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const signature = await account.sign({ hash: digest });
const { r, s, yParity } = parseSignature(signature);
const compact = (of: Hex) =>
  serializeCompactSignature(signatureToCompactSignature(parseSignature(of)));

const verify = (signed: Hex, chainId = 1, of: OrderComponents = components) =>
  verifySignature({ components: of, orderHash: orderHash(of), signature: signed }, chainId);
const resultOf = async (...args: Parameters<typeof verify>) => {
  const result = await verify(...args);
  return result.signedBy === "maker" ? "maker" : result.rejection.rejected;
};

/** The order as the last of `count` orders signed together. */
async function signInBulk(count: number, shorten = (base: Hex) => base) {
  const index = count - 1;
  const hashes = Array.from({ length: count }, (_, at) =>
    at === index ? hash : orderHash({ ...components, salt: BigInt(at + 100) }),
  );
  const { root, height, proofs } = bulkOrderTree(hashes);
  const base = await account.sign({
    hash: signingDigest(bulkOrderHash(root, height), exchangeDomain(1)),
  });
  return { base: shorten(base), index, height, proof: proofs[index] ?? [] };
}

describe("verifySignature", () => {
  it("takes the maker's own, of 65 and of 64 bytes", async () => {
    expect(await verify(signature)).toEqual({ signedBy: "maker", digest });
    expect([size(compact(signature)), await resultOf(compact(signature))]).toEqual([64, "maker"]);
  });

  it("takes the other of the two values of s, as the exchange does", async () => {
    const flipped = concatHex([
      r,
      numberToHex(curveOrder - BigInt(s), { size: 32 }),
      yParity === 0 ? "0x1c" : "0x1b",
    ]);

    expect(await resultOf(flipped)).toBe("maker");
  });

  it("rejects a v of 0 or 1, which the exchange does not accept", async () => {
    const bare = concatHex([slice(signature, 0, 64), numberToHex(yParity, { size: 1 })]);

    expect(await resultOf(bare)).toBe("bad_signature");
  });

  it.each([1, 2, 5, 100])("takes one out of %i signed at once, on either base", async (count) => {
    for (const shorten of [(base: Hex) => base, compact]) {
      const { base, index, proof } = await signInBulk(count, shorten);

      expect(await resultOf(bulkSignature(base, index, proof))).toBe("maker");
    }
  });

  it("rejects an index outside of the tree, although its low bits are valid", async () => {
    const { base, index, height, proof } = await signInBulk(5);
    const wrapped = bulkSignature(base, index + 2 ** height, proof);

    expect(await verify(wrapped)).toMatchObject({
      signedBy: "unverified",
      rejection: { rejected: "bad_bulk_proof", details: [{ expected: "index below 8" }] },
    });
  });

  it("reports a wrong proof like a wrong signer", async () => {
    const { base, index, proof } = await signInBulk(5);

    expect(await resultOf(bulkSignature(base, index - 1, proof))).toBe("bad_signature");
    expect(await resultOf(bulkSignature(base, index, proof.toReversed()))).toBe("bad_signature");
  });

  it.each<[string, OrderComponents, number]>([
    ["another chain", components, 33139],
    ["another counter", { ...components, counter: 8n }, 1],
    ["another maker", orders.listing, 1],
    ["another price", withChanges(components, { "consideration[0].startAmount": 1n }), 1],
  ])("rejects the signature of %s", async (_, of, chainId) => {
    expect(await resultOf(signature, chainId, of)).toBe("bad_signature");
  });

  it.each([
    ["missing_signature", 0],
    ["bad_signature_length", 1],
    ["bad_signature_length", 63],
    ["bad_signature_length", 66],
    ["bad_signature_length", 98],
    ["bad_signature_length", 101],
    ["bad_signature_length", 837],
    ["bad_signature", 64],
    ["bad_signature", 65],
    ["bad_signature", 836],
  ])("answers %s to %i bytes of zero", async (code, length) => {
    expect(await resultOf(`0x${"00".repeat(length)}`)).toBe(code);
  });

  it.each([64, 65, 99])(
    "answers bad_signature or a bad proof to %i bytes of ones",
    async (length) => {
      expect(await resultOf(`0x${"ff".repeat(length)}`)).toMatch(/^bad_(signature|bulk_proof)$/);
    },
  );

  it("leaves it to the maker's contract, which verifies the order's own digest", async () => {
    const { base, index, proof } = await signInBulk(5);
    const foreign = { ...components, offerer: orders.listing.offerer };

    expect(await verify(bulkSignature(base, index, proof), 1, foreign)).toMatchObject({
      signedBy: "unverified",
      digest: signingDigest(orderHash(foreign), exchangeDomain(1)),
    });
  });
});

describe("isBulkSignature", () => {
  it("is so of 24 lengths on each base", () => {
    const lengths = Array.from({ length: 1_000 }, (_, length) => length).filter((length) =>
      isBulkSignature(`0x${"00".repeat(length)}`),
    );

    expect(lengths).toEqual(
      Array.from({ length: 24 }, (_, level) => [99 + 32 * level, 100 + 32 * level]).flat(),
    );
  });
});

describe("validateCounter", () => {
  it.each([
    [7n, null],
    [8n, "counter_stale"],
    [2n ** 200n, "counter_stale"],
    [6n, "counter_ahead"],
  ])("of an order of counter 7, the maker's being %i, answers %s", (counter, code) => {
    expect(validateCounter({ components }, counter)?.rejected ?? null).toBe(code);
  });
});

type RecordedOrder = {
  chainId: number;
  seaport: string;
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  verifies: boolean | null;
};

// biome-ignore lint/style/noProcessEnv: where the recordings are is the tester's choice, not configuration
const recordings = `${env.REAL_DATA_DIR ?? "../shared/realdata"}/orders/signed_orders.json`;

if (existsSync(recordings)) {
  describe("recorded orders of Seaport 1.6", () => {
    it("are signed by their makers if they have a key's signature, and unverified otherwise", async () => {
      const recorded: RecordedOrder[] = JSON.parse(readFileSync(recordings, "utf8"));
      const orders16 = recorded.filter(({ seaport }) => seaport === "1.6");

      const checks = await Promise.all(
        orders16.map((order) => verifySignature(order, order.chainId)),
      );

      const signers = checks.map(({ signedBy }) => signedBy);
      expect(signers).toEqual(orders16.map(({ verifies }) => (verifies ? "maker" : "unverified")));
      expect(new Set(orders16.map((order) => size(order.signature))).size).toBeGreaterThan(7);
      expect(orders16.length).toBeGreaterThan(70);
    });
  });
}
