import fc from "fast-check";
import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { documentedEndpoints } from "#test/spec/endpoints.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let book: PartnerOrderBook;
/** Ids and values that mean something here. */
let known: string[] = [];

beforeAll(async () => {
  book = await openPartnerOrderBook(1);
  const punk = (tokenId: bigint) =>
    ({ standard: "erc721", contract: contracts.punks, tokenId }) as const;
  const priceWei = parseEther("1");
  const { alice, bob } = book.actors;
  const ids = [
    await book.submit(await alice.lists(punk(1n), { priceWei })),
    await book.submit(await bob.offers(punk(1n), { priceWei })),
    (await book.shows(book.opensea, { maker: accounts.alice, nft: punk(2n), priceWei })).askId,
    (await book.shows(book.magiceden, { maker: accounts.alice, nft: punk(3n), priceWei })).askId,
  ];
  known = [...ids, contracts.punks, contracts.editions, accounts.alice.address, "1", "2"];
});
afterAll(() => book?.close());

const odd = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("\0", "'", "%00", "\\", "[]", "-1", "0", "1e9", "NaN", "null", "native", "all"),
  fc.constantFrom("price_asc", "price_desc", "24h", "1d", "true", "active", "item", "apecoin"),
  fc.bigInt({ min: -(2n ** 260n), max: 2n ** 260n }).map(String),
);
const value = () => fc.oneof(odd, fc.constantFrom(...known));
const encoded = (text: string) =>
  encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, "?")).replaceAll(".", "%2E") || "x";
const filled = (template: string, values: readonly string[]) => {
  let next = 0;
  return template.replaceAll(/\{\w+\}/g, () => encoded(values[next++ % values.length] ?? "x"));
};

function isAnswered({ status, success, code }: Awaited<ReturnType<PartnerOrderBook["get"]>>) {
  // 502 and 503 are answers of endpoints that ask others; a fault is 500.
  expect(status).not.toBe(500);
  expect(success).toBe(status < 400);
  if (!success) expect(code).toMatch(/^[a-z0-9_]+$/);
}

describe("any request", () => {
  it("that reads is answered as documented and never with a fault", async () => {
    // The status is of processes that do not run here.
    const reads = documentedEndpoints.filter(
      ({ method, path }) => method === "get" && path !== "/v1/status" && !path.includes("openapi"),
    );
    const names = [...new Set(reads.flatMap(({ parameters }) => parameters))];
    const name = fc.constantFrom(
      ...names,
      "traits[Fur]",
      "traits[__proto__]",
      "traits[a][b]",
      "sort[]",
    );
    const query = fc.array(fc.tuple(name, value()), { maxLength: 5 });
    const path = fc.constantFrom(...reads.map((endpoint) => endpoint.path));
    const places = fc.array(value(), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(path, query, places, async (template, pairs, parts) => {
        const search = pairs.map(([key, text]) => `${key}=${encoded(text)}`).join("&");
        isAnswered(await book.get(`${filled(template, parts)}?${search}`));
      }),
      { numRuns: runsOf(1_500, 300) },
    );
  });

  it("that sends something is answered as documented and never with a fault", async () => {
    const writes = documentedEndpoints.filter(
      ({ method, path }) => method === "post" && path !== "/v1/auth/keys",
    );
    const scalar = () =>
      fc.oneof(value(), fc.integer(), fc.double(), fc.constant(null), fc.boolean());
    const item = fc.dictionary(
      fc.constantFrom(
        "contract",
        "tokenId",
        "quantity",
        "unitPriceWei",
        "amountWei",
        "kind",
        "seaport",
      ),
      fc.oneof(scalar(), fc.object()),
    );
    const body = fc.oneof(
      fc.dictionary(
        fc.constantFrom(
          ...["chainId", "maker", "buyer", "fulfiller", "contract", "tokenId", "amount", "txHash"],
          ...["maxPrice", "maxPriceWei", "askIds", "items", "listings", "bids", "seaport"],
        ),
        fc.oneof(scalar(), fc.array(fc.oneof(item, scalar()), { maxLength: 4 }), item),
      ),
      fc.jsonValue(),
    );
    const path = fc.constantFrom(...writes.map((endpoint) => endpoint.path));
    const places = fc.array(value(), { minLength: 1, maxLength: 1 });
    await fc.assert(
      fc.asyncProperty(path, body, places, async (template, sent, parts) => {
        isAnswered(await book.post(filled(template, parts), sent));
      }),
      { numRuns: runsOf(1_500, 300) },
    );
  });
});
