import { existsSync, readFileSync } from "node:fs";
import { env } from "node:process";
import fc from "fast-check";
import {
  compactSignatureToSignature,
  type Hex,
  hashStruct,
  hashTypedData,
  hexToNumber,
  parseCompactSignature,
  recoverAddress,
  size,
  slice,
} from "viem";
import { describe, expect, it } from "vitest";
import { type OrderComponents, orderTypes } from "./order-components.ts";
import {
  bulkOrderHash,
  type ExchangeVersion,
  exchangeDomain,
  hashPair,
  orderHash,
  signingDigest,
} from "./order-hash.ts";

/** Filled on Ethereum in transaction 0x242105ea…a5a7, block 21417107. */
const filledOnMainnet = parseComponents({
  offerer: "0x44ed6b3ff2eccb6c598d9326bf50aee5d5e64338",
  zone: "0x004c00500000ad104d7dbd00e3ae0a5c00560c00",
  offer: [
    {
      itemType: 2,
      token: "0xbe47e195607e408dc1ede1d67bfaed6187197ead",
      identifierOrCriteria: "1070",
      startAmount: "1",
      endAmount: "1",
    },
  ],
  consideration: [
    nativeLeg("0x44ed6b3ff2eccb6c598d9326bf50aee5d5e64338", "9054500000000000"),
    nativeLeg("0x0000a26b00c1f0df003000390027140000faa719", "45500000000000"),
  ],
  orderType: 0,
  startTime: "1734301597",
  endTime: "1734387998",
  zoneHash: `0x${"00".repeat(32)}`,
  salt: "51951570786726798460324975021501917861654789585098516727729011346345014214544",
  conduitKey: "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000",
  counter: "0",
});

describe("orderHash", () => {
  it("is the hash the exchange gave to an order filled on mainnet", () => {
    expect(orderHash(filledOnMainnet)).toBe(
      "0x5a2dbc067b0f64a5cf4f996736f17d5894d7a97b67f509917cde023faf109b0f",
    );
  });
});

describe("the hash of any order", () => {
  const bytes = (length: number) =>
    fc
      .uint8Array({ minLength: length, maxLength: length })
      .map((value) => `0x${Buffer.from(value).toString("hex")}` as Hex);
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const item = {
    itemType: fc.integer({ min: 0, max: 5 }),
    token: bytes(20),
    identifierOrCriteria: uint256,
    startAmount: uint256,
    endAmount: uint256,
  };
  const components = fc.record({
    offerer: bytes(20),
    zone: bytes(20),
    offer: fc.array(fc.record(item), { maxLength: 3 }),
    consideration: fc.array(fc.record({ ...item, recipient: bytes(20) }), { maxLength: 3 }),
    orderType: fc.integer({ min: 0, max: 4 }),
    startTime: uint256,
    endTime: uint256,
    zoneHash: bytes(32),
    salt: uint256,
    conduitKey: bytes(32),
    counter: uint256,
  });

  it("is EIP-712's hashStruct", () => {
    fc.assert(
      fc.property(components, (order) => {
        const data = { primaryType: "OrderComponents", types: orderTypes, data: order } as const;
        expect(orderHash(order)).toBe(hashStruct(data));
      }),
    );
  });
});

describe("signingDigest", () => {
  it("is the EIP-712 digest a wallet signs for the order", () => {
    const domain = exchangeDomain(33139);

    expect(signingDigest(orderHash(filledOnMainnet), domain)).toBe(
      hashTypedData({
        domain,
        types: orderTypes,
        primaryType: "OrderComponents",
        message: { ...filledOnMainnet },
      }),
    );
  });
});

type RecordedOrder = {
  chainId: number;
  seaport: ExchangeVersion;
  orderHash: Hex;
  components: RecordedComponents;
  signature: Hex;
  verifies: boolean | null;
};

// biome-ignore lint/style/noProcessEnv: where the recordings are is the tester's choice, not configuration
const recordings = `${env.REAL_DATA_DIR ?? "../shared/realdata"}/orders/signed_orders.json`;

if (existsSync(recordings)) {
  const recorded: RecordedOrder[] = JSON.parse(readFileSync(recordings, "utf8"));

  describe("recorded orders", () => {
    it("hash to the recorded hashes, on every version and chain", () => {
      const hashed = recorded.map(({ components }) => orderHash(parseComponents(components)));

      expect(hashed).toEqual(recorded.map((order) => order.orderHash));
    });

    it("recover to their offerers, single and bulk signatures alike", async () => {
      const signed = recorded.filter((order) => order.verifies);

      const signers = await Promise.all(signed.map(recoverSigner));

      expect(signers).toEqual(signed.map(({ components }) => components.offerer.toLowerCase()));
      expect(signed.length).toBeGreaterThan(100);
    });
  });
}

async function recoverSigner(order: RecordedOrder): Promise<string> {
  const { base, structHash } = signedStruct(order);
  const hash = signingDigest(structHash, exchangeDomain(order.chainId, order.seaport));
  const signature =
    size(base) === 64 ? compactSignatureToSignature(parseCompactSignature(base)) : base;
  return (await recoverAddress({ hash, signature })).toLowerCase();
}

/** The base of the signature, and the hash it signs: of the order or of its bulk order. */
function signedStruct({ signature, ...order }: RecordedOrder): { base: Hex; structHash: Hex } {
  const length = size(signature);
  if (length <= 65) return { base: signature, structHash: order.orderHash };
  const height = Math.floor((length - 67) / 32);
  const baseLength = length - 3 - 32 * height;
  const index = hexToNumber(slice(signature, baseLength, baseLength + 3));
  let node = order.orderHash;
  for (let depth = 0; depth < height; depth++) {
    const start = baseLength + 3 + 32 * depth;
    const sibling = slice(signature, start, start + 32);
    node = (index >> depth) % 2 === 0 ? hashPair(node, sibling) : hashPair(sibling, node);
  }
  return { base: slice(signature, 0, baseLength), structHash: bulkOrderHash(node, height) };
}

type RecordedItem = {
  itemType: number;
  token: Hex;
  identifierOrCriteria: string;
  startAmount: string;
  endAmount: string;
};

type RecordedComponents = Omit<
  OrderComponents,
  "offer" | "consideration" | "startTime" | "endTime" | "salt" | "counter"
> & {
  offer: RecordedItem[];
  consideration: (RecordedItem & { recipient: Hex })[];
  startTime: string;
  endTime: string;
  salt: string;
  counter: string;
};

function nativeLeg(recipient: Hex, amount: string) {
  return {
    itemType: 0,
    token: `0x${"00".repeat(20)}` as const,
    identifierOrCriteria: "0",
    startAmount: amount,
    endAmount: amount,
    recipient,
  };
}

function parseItem<Item extends RecordedItem>(item: Item) {
  return {
    ...item,
    identifierOrCriteria: BigInt(item.identifierOrCriteria),
    startAmount: BigInt(item.startAmount),
    endAmount: BigInt(item.endAmount),
  };
}

function parseComponents(recorded: RecordedComponents): OrderComponents {
  return {
    ...recorded,
    offer: recorded.offer.map(parseItem),
    consideration: recorded.consideration.map(parseItem),
    startTime: BigInt(recorded.startTime),
    endTime: BigInt(recorded.endTime),
    salt: BigInt(recorded.salt),
    counter: BigInt(recorded.counter),
  };
}
