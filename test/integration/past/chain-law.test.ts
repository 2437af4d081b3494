import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import { allProjections } from "#projections/all.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  followChain,
  type LoggedBlock,
  readLoggedBlocks,
} from "#test/support/chain/followed-chain.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import {
  editionIds,
  playTransfers,
  readCount,
  readOwner,
  readUnits,
} from "#test/support/chain/played-chain.ts";
import { createProjections } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";

/** 2,000 for a whole run: `PAST_QUESTIONS=2000 npx vitest run --project integration past/chain-law`. */
const questions = Number(process.env.PAST_QUESTIONS ?? 200);
const chainId = 33139;
/** The node keeps the states of so many blocks; each move is one. */
const rounds = 12;
const movesOfRound = 12;

let market: Market;
let database: TestDatabase;
let api: ApiClient;
const random = randomFrom(Number(process.env.PAST_SEED ?? 49));
let play: ReturnType<typeof playTransfers>;
let first: bigint;
/** Of each block of the chain. */
const times = new Map<bigint, bigint>();

beforeAll(async () => {
  market = await openMarket({ chainId });
  database = await createDatabase({ template: "projected" });
  const targets = await createProjections(database.db, allProjections({ feeRecipient }));
  play = playTransfers(market, random);
  first = (await market.client.getBlockNumber()) + 1n;
  for (let round = 0; round < rounds; round += 1) {
    await play.play(movesOfRound);
    await followChain(database.db, market, targets);
    if (random.chance(0.7)) await play.reorganize();
  }
  // The newest block has an event, so that every block of the chain is reached.
  await play.play(1);
  await followChain(database.db, market, targets);
  for (let number = first; number <= (await market.client.getBlockNumber()); number += 1n)
    times.set(number, (await market.client.getBlock({ blockNumber: number })).timestamp);
  api = await serve(openNftDataApp(database.db, {}));
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
  await market?.stop();
});

const Answer = z.object({ data: z.unknown(), meta: z.object({ at: z.looseObject({}) }) });

async function ask(path: string, at: string, more = "") {
  const { status, body } = await api.get(
    `/v1/${path}?chainId=${chainId}&at=${encodeURIComponent(at)}${more}`,
  );
  return { status, body };
}

async function told<Data extends z.ZodType>(path: string, at: string, data: Data, more = "") {
  const { status, body } = await ask(path, at, more);
  expect([path, at, status, status === 200 ? "" : body]).toEqual([path, at, 200, ""]);
  const answer = Answer.parse(body);
  return { data: data.parse(answer.data), meta: answer.meta };
}

const Holders = z.array(z.object({ address: z.string(), units: z.string() }));
const Counts = z.array(z.object({ address: z.string(), tokens: z.int() }));
const Tokens = z.array(
  z.object({ contract: z.string(), tokenId: z.string(), units: z.string(), standard: z.string() }),
);

/** A block, as a caller may name it. */
function nameOf(number: bigint, blocks: readonly LoggedBlock[]): string {
  const logged = blocks.find((one) => one.number === number && !one.isRetracted);
  const names = [`${number}`, ...(logged === undefined ? [] : [logged.hash])];
  const timestamp = times.get(number);
  if (timestamp !== undefined && isLastUpTo(timestamp, number))
    names.push(new Date(Number(timestamp) * 1_000).toISOString());
  return random.pick(names);
}

/** The node gives blocks after a reorg any times: on a chain they do not fall. */
function isLastUpTo(timestamp: bigint, number: bigint): boolean {
  const others = [...times].filter(([other]) => other !== number);
  const isOrdered = ([other, time]: readonly [bigint, bigint]) =>
    other < number ? time <= timestamp : time > timestamp;
  return others.some(([other]) => other > number) && others.every(isOrdered);
}

async function askOwner(number: bigint, at: string): Promise<void> {
  const { contract, tokenId } = random.pick(play.minted);
  const expected = await readOwner(market.client, contract, tokenId, number);
  const { status, body } = await ask(`collections/${contract}/tokens/${tokenId}/ownership`, at);
  const Owned = z.object({
    data: z.object({ owner: z.string().nullable(), isBurned: z.boolean() }),
  });
  if (status === 404)
    expect([number, contract, tokenId, null]).toEqual([number, contract, tokenId, expected]);
  else {
    expect(status).toBe(200);
    const { data } = Owned.parse(body);
    expect([number, contract, tokenId, data.owner]).toEqual([number, contract, tokenId, expected]);
    expect(data.isBurned).toBe(expected === null);
  }
}

async function askUnits(number: bigint, at: string): Promise<void> {
  const tokenId = random.pick(editionIds);
  const expected = new Map<string, string>();
  for (const { address } of play.players) {
    const units = await readUnits(market.client, address, tokenId, number);
    if (units > 0n) expected.set(address.toLowerCase(), `${units}`);
  }
  const path = `collections/${contracts.editions}/tokens/${tokenId}/holders`;
  const { status, body } = await ask(path, at);
  const held =
    status === 404 ? [] : Holders.parse(z.object({ data: z.unknown() }).parse(body).data);
  const found = new Map(held.map(({ address, units }) => [address, units]));
  expect([number, at, tokenId, found]).toEqual([number, at, tokenId, expected]);
}

async function askHolders(number: bigint, at: string): Promise<void> {
  const contract = random.pick([contracts.punks, contracts.consecutive]);
  const expected = new Map<string, number>();
  for (const { address } of play.players) {
    const count = await readCount(market.client, contract, address, number);
    if (count > 0n) expected.set(address.toLowerCase(), Number(count));
  }
  const { data } = await told(`collections/${contract}/holders`, at, Counts);
  const found = new Map(data.map(({ address, tokens }) => [address, tokens]));
  expect([number, at, contract, found]).toEqual([number, at, contract, expected]);
}

async function askWallet(number: bigint, at: string): Promise<void> {
  const { address } = random.pick(play.players);
  const expected = new Set<string>();
  for (const { contract, tokenId } of play.minted) {
    const owner = await readOwner(market.client, contract, tokenId, number);
    if (owner === address.toLowerCase()) expected.add(`${contract} ${tokenId} 1`);
  }
  for (const tokenId of editionIds) {
    const units = await readUnits(market.client, address, tokenId, number);
    if (units > 0n) expected.add(`${contracts.editions} ${tokenId} ${units}`);
  }
  const more = "&per_page=100&fields=contract,tokenId,standard,units";
  const { data } = await told(`wallets/${address}/tokens`, at, Tokens, more);
  const found = new Set(data.map((one) => `${one.contract} ${one.tokenId} ${one.units}`));
  expect([number, at, address, found]).toEqual([number, at, address, expected]);
}

it(`${questions} questions about random blocks, with reorgs before and after, are answered as an archive node does`, async () => {
  const blocks = await readLoggedBlocks(database.db, chainId);
  expect(blocks.filter(({ isRetracted }) => isRetracted).length).toBeGreaterThan(5);
  const head = await market.client.getBlockNumber();
  const from = blocks.reduce(
    (lowest, { number }) => (number >= first && number < lowest ? number : lowest),
    head,
  );
  const kinds = [askOwner, askOwner, askUnits, askHolders, askWallet];
  for (let asked = 0; asked < questions; asked += 1) {
    const number = from + BigInt(random.int(0, Number(head - from)));
    await random.pick(kinds)(number, nameOf(number, blocks));
  }
});

it("a block that a reorg took back is refused, by its hash", async () => {
  const gone = (await readLoggedBlocks(database.db, chainId)).filter(
    ({ isRetracted }) => isRetracted,
  );
  for (const { hash } of gone) {
    const { status, body } = await ask(`collections/${contracts.punks}/holders`, hash);
    expect([status, body]).toMatchObject([409, { code: "block_retracted" }]);
  }
});
