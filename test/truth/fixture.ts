import { sql } from "kysely";
import { type Address, type Hex, parseEther } from "viem";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type Random, seededRandom } from "#devnet/market/random.ts";
import { type MarketContext, sendAsMined } from "#devnet/market/signer.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { readProjectionProgress } from "#projections/log/progress.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { type Pipeline, startPipeline, until, untilReady } from "../support/database/pipeline.ts";
import { type Clock, openClock } from "./movable-clock.ts";
import { createPlayers, type Player } from "./players.ts";
import { openRestartingRole } from "./restarting-role.ts";
import type { StoredOrder } from "./stored-order.ts";

/** A chain with the whole service over it, its traders, and every order that the API accepted. */
export type Fixture = {
  chainId: ChainId;
  market: Market;
  pipeline: Pipeline;
  db: Database;
  marketContext: MarketContext;
  random: Random;
  clock: Clock;
  people: readonly Player[];
  walletOf: ReturnType<typeof createPlayers>["walletOf"];
  walletOwner: "alice" | "bob";
  orders: StoredOrder[];
  tokens: [Nft, ...Nft[]];
  editions: readonly Nft[];
  /** Lower-case addresses of accounts that traded since the last comparison by an order that is not stored. */
  unknownTraders: Set<string>;
  /** Whether blocks were retracted since the last comparison. */
  reorged: boolean;
  /** Time of the last comparison, unix seconds. */
  comparedAt: number;
  /** The highest id of tokens minted so far. */
  nextId: bigint;
  /** How often a role lost its lease and was restarted. */
  restarts(): number;
  stop(): Promise<void>;
};

const fundsWei = parseEther("1000");
const quotas = [
  "ORDER_QUOTA_MAKER",
  "ORDER_QUOTA_CONTRACT",
  "ORDER_BUDGET_UNTRADED",
  "ORDER_BUDGET_NEWCOMERS",
  "OFFER_EXPOSURE",
];
const tokenIds = (first: bigint, count: number) =>
  Array.from({ length: count }, (_, index) => first + BigInt(index));

export async function openFixture(options: {
  chainId: ChainId;
  seed: number;
  databaseUrl: string;
  sweepSeconds?: number;
}): Promise<Fixture> {
  const { chainId, seed, databaseUrl, sweepSeconds = 60 } = options;
  const clock = openClock();
  const market = await openMarket({ chainId, stocked: true });
  const random = seededRandom(seed);
  const { client, actors, anvil } = market;
  const marketContext: MarketContext = { chainId, client, random, sending: sendAsMined(client) };
  await client.setIntervalMining({ interval: 1 });
  const settings = {
    CHECK_INTERVAL_SECONDS: `${sweepSeconds}`,
    // The wallet and the collection that refuses transfers change their minds all the time.
    CONTRACT_CHANGES_PER_HOUR: "1000000",
    // As in a real installation: transfers of WETH on Ethereum are too many to be indexed.
    WRAPPED_NATIVE_EVENTS_1: "none",
    // Four people hold the whole book.
    ...Object.fromEntries(quotas.map((name) => [name, "1000000"])),
  };
  const service = { databaseUrl, chains: [anvil], settings };
  const pipeline = await startPipeline({ ...service, roles: ["indexer", "api"] });
  const roles = [
    await openRestartingRole("projector", service),
    await openRestartingRole("jobs", service),
  ];
  await untilReady(pipeline);
  await client.setIntervalMining({ interval: 0 });
  await client.setAutomine(true);
  const db = openDatabase({ url: databaseUrl, applicationName: "truth", onIdleError: () => {} });
  const { people, walletOf } = createPlayers(marketContext, actors, pipeline.baseUrl);
  const token = (contract: Address) => (tokenId: bigint) =>
    ({ standard: "erc721", contract, tokenId }) as const;
  const fixture: Fixture = {
    ...{ chainId, market, pipeline, db, marketContext, random, clock, people, walletOf },
    walletOwner: "alice",
    orders: [],
    tokens: [
      token(contracts.punks)(1_000n),
      ...tokenIds(1_001n, 9).map(token(contracts.punks)),
      ...tokenIds(1_001n, 3).map(token(contracts.guarded)),
    ],
    editions: [1_001n, 1_002n].map((tokenId) => ({
      standard: "erc1155",
      contract: contracts.editions,
      tokenId,
    })),
    unknownTraders: new Set(),
    reorged: false,
    comparedAt: clock.now(),
    nextId: 100_000n,
    restarts: () => roles.reduce((sum, role) => sum + role.restarts(), 0),
    async stop() {
      await db.destroy();
      for (const role of roles) await role.stop();
      await pipeline.stop();
      await market.stop();
      clock.restore();
    },
  };
  await seedTokens(fixture);
  return fixture;
}

async function seedTokens(fixture: Fixture): Promise<void> {
  const { people, tokens, editions } = fixture;
  const owners = [...people, wallet(fixture)];
  for (const [index, nft] of tokens.entries()) {
    await owners[index % owners.length]?.actor.mints(nft);
  }
  for (const { actor } of owners) {
    for (const contract of [contracts.punks, contracts.guarded, contracts.editions]) {
      await actor.approves(contract);
    }
    await actor.wraps(fundsWei / 100n);
    await actor.allows(fundsWei / 100n);
  }
  for (const { actor } of people) for (const nft of editions) await actor.mints(nft, 8n);
}

export const wallet = (fixture: Fixture): Player => fixture.walletOf(accounts[fixture.walletOwner]);

export const allPlayers = (fixture: Fixture): readonly [Player, ...Player[]] => [
  wallet(fixture),
  ...fixture.people,
];

/** A restarted indexer needs a new block to follow. */
const nextBlockMs = 3_000;
const timeoutMs = 240_000;

/** Mines blocks with an event until the whole chain is recorded and derived. Returns how many milliseconds that took. */
export async function waitUntilDerived(fixture: Fixture): Promise<number> {
  const startedAt = performance.now();
  let head = await mineMarkerBlock(fixture);
  let mineAt = startedAt + nextBlockMs;
  const isDerived = async () => {
    if (await hasEventsOf(fixture.db, head)) {
      const progress = await readProjectionProgress(fixture.db);
      return progress.every(({ position, head }) => position >= head);
    }
    if (performance.now() > mineAt) {
      head = await mineMarkerBlock(fixture);
      mineAt = performance.now() + nextBlockMs;
    }
    return false;
  };
  await until("the head to be derived", isDerived, timeoutMs);
  return performance.now() - startedAt;
}

/** Readings of a block may be in the log before its events. */
async function hasEventsOf(db: Database, blockHash: Hex): Promise<boolean> {
  const { rows } = await sql`
    select from log.block b where b.hash = decode(${blockHash.slice(2)}, 'hex')
      and exists (select from log.fact f where f.block_id = b.block_id and f.log_index is not null)`.execute(
    db,
  );
  return rows.length > 0;
}

/** Mines a block with an event in it; its hash. */
async function mineMarkerBlock(fixture: Fixture): Promise<Hex> {
  const { actors, client } = fixture.market;
  fixture.nextId += 1n;
  const mark = { standard: "erc721", contract: contracts.punks, tokenId: fixture.nextId } as const;
  await actors.erin.mints(mark);
  return (await client.getBlock()).hash;
}
