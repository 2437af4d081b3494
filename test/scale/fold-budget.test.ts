import { afterAll, beforeAll, expect, it } from "vitest";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt } from "#test/support/http/openapi.ts";
import { givenListing, transferred } from "#test/support/orders/order-facts.ts";

const many = addressOf(71);
const [alice, bob] = [addressOf(1), addressOf(2)];

let stage: NftDataFixture;
let api: ApiClient;
beforeAll(async () => {
  stage = await openNftDataFixture();
  api = await documentedAt(stage.api.url, { base: "", path: "/v1/openapi.json" });
});
afterAll(() => stage?.close());

const moves = (from: number, count: number): ChainEvent[] =>
  Array.from({ length: count }, (_, index) => {
    const place = { at: block(1, 20), log: from + index };
    return transferred({ contract: many, from: alice, to: bob, tokenId: 1n, units: 1n }, place);
  });

it("a moment is refused where one answer would have to fold more than 200,000 transfers", async () => {
  for (let from = 0; from < 200_000; from += 50_000)
    await appendEvents(stage.db, moves(from, 50_000));
  const terms = { maker: bob, contract: many, tokenId: 1n, standard: "erc1155" } as const;
  const last = { at: block(1, 22), log: 0 };
  await stage.happens(
    givenListing(terms).submitted,
    transferred({ contract: many, from: bob, to: alice, tokenId: 1n, units: 1n }, last),
  );
  const paths = [
    `listings?collection=${many}&marketplace=native`,
    `collections/${many}/tokens/1/holders?`,
    `collections/${many}/holders?`,
  ].map((path) => `/v1/${path}&chainId=1&at=20`);
  for (const path of paths) expect([path, (await api.get(path)).status]).toEqual([path, 200]);
  await appendEvents(stage.db, moves(200_000, 1));
  await stage.happens();
  for (const path of paths) {
    const { status, body } = await api.get(path);
    expect([path, status, body]).toMatchObject([path, 422, { code: "too_much_to_fold" }]);
  }
}, 300_000);
