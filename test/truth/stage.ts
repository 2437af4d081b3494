import { type Address, parseEther } from "viem";
import { z } from "zod";
import type { ChainId } from "../../abis/deployments.ts";
import { accounts } from "../../devnet/accounts.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import type { Venue } from "../../devnet/market/party.ts";
import { type Random, seededRandom } from "../../devnet/market/random.ts";
import { sendAsMined } from "../../devnet/market/sending.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import { readProjectionProgress } from "../../projections/log/status.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { type Pipeline, startPipeline, until, untilReady } from "../support/database/pipeline.ts";
import { type Clock, openClock } from "./clock.ts";

import { gatherPlayers, type Player } from "./players.ts";
import { openRestartingRole } from "./restarting-role.ts";
import type { StoredOrder } from "./stored-order.ts";

/** A chain, the whole service over it, who trades there, and every order that was taken in. */
export type Stage = {
  chainId: ChainId;
  market: Market;
  pipeline: Pipeline;
  db: Database;
  venue: Venue;
  random: Random;
  clock: Clock;
  people: readonly Player[];
  walletOf: ReturnType<typeof gatherPlayers>["walletOf"];
  walletOwner: "alice" | "bob";
  orders: StoredOrder[];
  tokens: readonly [Nft, ...Nft[]];
  editions: readonly Nft[];
  /** Lower-case addresses of who traded, since the last judgement, by an order that is not in the book. */
  unknownTraders: Set<string>;
  /** Whether blocks were dropped since the last judgement. */
  reorged: boolean;
  /** The moment of the last judgement, unix seconds. */
  judgedAt: number;
  /** A name for each token minted on the way. */
  nextId: bigint;
  /** How often a role lost its lease and was begun again. */
  restarts(): number;
  stop(): Promise<void>;
};

const purseWei = parseEther("1000");
const tokenIds = (first: bigint, count: number) =>
  Array.from({ length: count }, (_, index) => first + BigInt(index));

export async function openStage(options: {
  chainId: ChainId;
  seed: number;
  databaseUrl: string;
  sweepSeconds?: number;
}): Promise<Stage> {
  const { chainId, seed, databaseUrl, sweepSeconds = 60 } = options;
  const clock = openClock();
  const market = await openMarket({ chainId, stocked: true });
  const random = seededRandom(seed);
  const { client, actors, anvil } = market;
  const venue: Venue = { chainId, client, random, sending: sendAsMined(client) };
  await client.setIntervalMining({ interval: 1 });
  const settings = { CHECK_INTERVAL_SECONDS: `${sweepSeconds}` };
  const service = { databaseUrl, chains: [anvil], settings };
  const pipeline = await startPipeline({ ...service, roles: ["indexer", "api"] });
  const kept = [
    await openRestartingRole("projector", service),
    await openRestartingRole("jobs", service),
  ];
  await untilReady(pipeline);
  await client.setIntervalMining({ interval: 0 });
  await client.setAutomine(true);
  const db = openDatabase({ url: databaseUrl, applicationName: "judge", onIdleError: () => {} });
  const { people, walletOf } = gatherPlayers(venue, actors, pipeline.baseUrl);
  const token = (contract: Address) => (tokenId: bigint) =>
    ({ standard: "erc721", contract, tokenId }) as const;
  const stage: Stage = {
    ...{ chainId, market, pipeline, db, venue, random, clock, people, walletOf },
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
    judgedAt: clock.now(),
    nextId: 100_000n,
    restarts: () => kept.reduce((sum, role) => sum + role.restarts(), 0),
    async stop() {
      await db.destroy();
      for (const role of kept) await role.stop();
      await pipeline.stop();
      await market.stop();
      clock.restore();
    },
  };
  await stock(stage);
  return stage;
}

async function stock(stage: Stage): Promise<void> {
  const { people, tokens, editions } = stage;
  const everybody = [...people, wallet(stage)];
  for (const [index, nft] of tokens.entries()) {
    await everybody[index % everybody.length]?.actor.mints(nft);
  }
  for (const { actor } of everybody) {
    for (const contract of [contracts.punks, contracts.guarded, contracts.editions]) {
      await actor.approves(contract);
    }
    await actor.wraps(purseWei / 100n);
    await actor.allows(purseWei / 100n);
  }
  for (const { actor } of people) for (const nft of editions) await actor.mints(nft, 8n);
}

export const wallet = (stage: Stage): Player => stage.walletOf(accounts[stage.walletOwner]);

export const everybody = (stage: Stage): readonly [Player, ...Player[]] => [
  wallet(stage),
  ...stage.people,
];

const Status = z.looseObject({
  chains: z.tuple([z.looseObject({ recorded: z.looseObject({ hash: z.string() }).nullable() })]),
});

/** A chain goes on; one that stood still would leave an indexer that was started again without a block to follow. */
const nextBlockMs = 3_000;
const patienceMs = 240_000;

/** Mines blocks that hold an event until all of the chain is recorded and derived. Returns the milliseconds that took. */
export async function catchUp(stage: Stage): Promise<number> {
  const startedAt = performance.now();
  let head = await mineMark(stage);
  let mineAt = startedAt + nextBlockMs;
  const isDerived = async () => {
    const { body } = await stage.pipeline.get("/v1/status");
    const { chains } = Status.parse(body.data);
    if (chains[0].recorded?.hash === head) {
      // What the status tells of log, heads and projections are three looks.
      const progress = await readProjectionProgress(stage.db);
      return progress.every(({ position, head }) => position >= head);
    }
    if (performance.now() > mineAt) {
      head = await mineMark(stage);
      mineAt = performance.now() + nextBlockMs;
    }
    return false;
  };
  await until("the head to be derived", isDerived, patienceMs);
  return performance.now() - startedAt;
}

/** Mines a block with an event in it; its hash. */
async function mineMark(stage: Stage): Promise<string> {
  const { actors, client } = stage.market;
  stage.nextId += 1n;
  const mark = { standard: "erc721", contract: contracts.punks, tokenId: stage.nextId } as const;
  await actors.erin.mints(mark);
  return (await client.getBlock()).hash;
}
