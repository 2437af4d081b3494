import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { addressOf, block, type ChainEvent, zeroAddress } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt } from "#test/support/http/openapi.ts";

const contract = addressOf(70);
const [alice, bob] = [addressOf(1), addressOf(2)];
const taken = block(1, 14, "taken");

let stage: NftDataFixture;
let api: ApiClient;
beforeAll(async () => {
  stage = await openNftDataFixture();
  api = await documentedAt(stage.api.url, { base: "", path: "/v1/openapi.json" });
  await stage.happens(given(10, zeroAddress, alice));
  await stage.happens(given(12, alice, bob));
  await stage.happens({ ...given(14, bob, alice), block: taken });
  await stage.retract(taken);
  await stage.happens(given(15, bob, alice));
  await stage.happens({ ...given(7, zeroAddress, alice), block: block(33139, 7) });
});
afterAll(() => stage?.close());

function given(number: number, from: typeof alice, to: typeof alice): ChainEvent {
  const about = { contract, from, to, tokenId: 1n } as const;
  return { kind: "erc721_transfer", block: block(1, number), logIndex: 0, ...about };
}

const Told = z.object({
  data: z.object({ owner: z.string() }),
  meta: z.object({ at: z.looseObject({ block: z.int(), hash: z.string().nullable() }) }),
});

async function ask(at: string, more = "&chainId=1") {
  const path = `/v1/collections/${contract}/tokens/1/ownership?at=${encodeURIComponent(at)}${more}`;
  return await api.get(path);
}

async function told(at: string) {
  const { status, body } = await ask(at);
  expect([at, status, body]).toMatchObject([at, 200, {}]);
  const { data, meta } = Told.parse(body);
  return { owner: data.owner, ...meta.at };
}

const timeOf = (number: number) => new Date(block(1, number).timestamp * 1_000).toISOString();

describe("a moment that `at` names", () => {
  it("is a block by its number, whether anything happened in it or not", async () => {
    const { hash } = block(1, 12);
    expect(await told("12")).toMatchObject({ owner: bob, block: 12, hash, time: timeOf(12) });
    expect(await told("11")).toMatchObject({ owner: alice, block: 11, hash: null, time: null });
    expect(await told("14")).toMatchObject({ owner: bob, block: 14, hash: null });
    expect(await told("15")).toMatchObject({ owner: alice, block: 15, isFinal: false });
  });

  it("is a block by its hash, in any case", async () => {
    const { hash } = block(1, 12);
    expect(await told(`0x${hash.slice(2).toUpperCase()}`)).toMatchObject({ owner: bob, hash });
  });

  it("is the last block up to a time", async () => {
    expect(await told(timeOf(12))).toMatchObject({ owner: bob, block: 12 });
    expect(await told(timeOf(11))).toMatchObject({ owner: alice, block: 10 });
    expect(await told(timeOf(14).replace("Z", "+00:00"))).toMatchObject({ block: 12 });
  });

  it("is the chain's last block in the log at a position", async () => {
    expect(await told("position:1")).toMatchObject({ owner: alice, block: 10 });
    expect(await told("position:2")).toMatchObject({ owner: bob, block: 12 });
    const { headers } = await ask("12");
    const position = headers.get("x-position");
    expect(await told(`position:${position}`)).toMatchObject({ owner: alice, block: 15, position });
  });
});

describe("a moment that cannot be told", () => {
  it.each([
    ["a block that a reorg took back", taken.hash, 409, "block_retracted"],
    ["a position at which it was the last one", "position:3", 409, "block_retracted"],
    ["a block of another chain", block(33139, 7).hash, 404, "block_unknown"],
    ["a block that nobody knows", block(1, 99).hash, 404, "block_unknown"],
    ["a block before the first", "9", 422, "point_not_covered"],
    ["a time before the first block", timeOf(9), 422, "point_not_covered"],
    ["a position before the first event", "position:0", 422, "point_not_covered"],
    ["a block after the last", "16", 422, "point_not_reached"],
    ["the highest number", "9".repeat(18), 422, "point_not_reached"],
    ["a time that later blocks may share", timeOf(15), 422, "point_not_reached"],
    ["a time to come", "9999-12-31T23:59:59Z", 422, "point_not_reached"],
    ["a position to come", `position:${"9".repeat(18)}`, 422, "point_not_reached"],
    ["a date without a time", "2026-01-01", 422, "invalid_parameters"],
    ["a negative number", "-1", 422, "invalid_parameters"],
    ["no moment", "latest", 422, "invalid_parameters"],
  ])("%s is refused: %s", async (_, at, status, code) => {
    const answer = await ask(at);
    expect([at, answer.status, answer.body]).toMatchObject([at, status, { code }]);
  });

  it("is a number of a block where several chains are served and none is named", async () => {
    const answer = await ask("12", "");
    expect([answer.status, answer.body]).toMatchObject([422, { code: "ambiguous_chain" }]);
    expect((await ask(block(1, 12).hash, "")).status).toBe(200);
  });
});

describe("other endpoints and lists", () => {
  it("take no `at` where it is not answered", async () => {
    const { status, body } = await api.get(`/v1/collections/${contract}/tokens?chainId=1&at=12`);
    expect([status, body]).toMatchObject([422, { code: "unknown_parameter" }]);
  });

  it("a wallet's tokens need the fields that transfers say, and have them then", async () => {
    const list = `/v1/wallets/${bob}/tokens?chainId=1&at=12`;
    for (const fields of ["", "&fields=name", "&fields=tokenId,listing"])
      expect((await api.get(list + fields)).body).toMatchObject({
        code: "invalid_parameters",
        details: [{ field: "fields" }],
      });
    const { body } = await api.get(`${list}&fields=contract,tokenId,owner,supply,units`);
    expect(body).toMatchObject({
      data: [{ contract, tokenId: "1", owner: bob, supply: 1, units: "1" }],
      meta: { at: { block: 12 } },
    });
    const now = await api.get(`/v1/wallets/${bob}/tokens?chainId=1`);
    expect(now.body).toMatchObject({ data: [] });
  });

  it("what burn addresses held is not told of a moment", async () => {
    const { status } = await api.get(
      `/v1/wallets/${zeroAddress}/tokens?chainId=1&at=12&fields=tokenId`,
    );
    expect(status).toBe(422);
  });

  it("pages of holders stay at their block", async () => {
    const list = `/v1/collections/${contract}/tokens/1/holders?chainId=1`;
    const then = await api.get(`${list}&at=12`);
    expect(then.body).toMatchObject({ data: [{ address: bob, units: "1" }] });
    const now = await api.get(list);
    expect(now.body).toMatchObject({ data: [{ address: alice, units: "1" }] });
  });
});
