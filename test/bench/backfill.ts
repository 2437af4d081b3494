import { sql } from "kysely";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { hasProjectionsWithin } from "#projections/log/progress.ts";
import { startPonderAlone } from "../support/chain/ponder.ts";
import { getJson, until } from "../support/database/pipeline.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { type ChainNode, startNode } from "./generated-chain/node-process.ts";
import type { RequestCounts } from "./generated-chain/rpc-methods.ts";
import { serve } from "./installation.ts";
import { type Memory, type MemoryMeter, measureMemory } from "./memory.ts";
import { processorMs } from "./ponder/processor.ts";
import { withDatabase } from "./server.ts";

const chainId = 1;
/** One of a million facts takes half an hour. */
const roundsOf = (facts: number) => (facts < 500_000 ? 2 : 1);
/** Beyond it Ponder alone is left out, and what counts is memory. */
const comparedUpTo = 2_000_000;
/**
 * A million facts in about 200,000 blocks. More of them lie as close as in recorded blocks of Ethereum, which have 33 on
 * average: ten million take an hour and not three, and a block takes more memory.
 */
const transactionsInBlock = (facts: number) => (facts > comparedUpTo ? 20 : 3);
const withinMs = 4 * 3_600_000;
const schema = "alone";
/** As on a machine with 4 GB: PostgreSQL takes a quarter of the memory, at most 4 GB. */
const sharedBuffers = { shared_buffers: "1GB" };

/** Seconds from nothing to the end, processor seconds of all processes but the node, and how many events are stored. */
type Spent = { seconds: number; processorSeconds: number; events: number };
type Compared = { ponder: Spent; ours: Spent };
type Round = { ponder: Spent | undefined; ours: Spent; requests: RequestCounts; memory: Memory };

/**
 * From an empty database until the last row is served, and Ponder alone with the same events over the same chain, its
 * handlers storing each event as a row. In turns; both fetch everything from the node.
 */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const node = await startNode({ facts, transactionsInBlock: transactionsInBlock(facts) });
  const orphanGuard = startOrphanGuard();
  const given = { node, orphanGuard };
  try {
    const measured: Round[] = [];
    for (let round = 0; round < roundsOf(facts); round += 1) {
      const ponder =
        facts > comparedUpTo
          ? undefined
          : await withDatabase((db, url) => indexAlone({ ...given, db, url }), sharedBuffers);
      const meter = measureMemory(node.pid);
      await node.takeRequests();
      const ours = await withDatabase(async (db, url) => {
        const endReports = reportTenths(db, facts, meter);
        return await serveAll({ ...given, db, url }).finally(endReports);
      }, sharedBuffers);
      const requests = await node.takeRequests();
      measured.push({ ponder, ours, requests, memory: await meter.stop() });
      if (ponder !== undefined) expectSame(ponder, ours);
    }
    return figuresOf(measured, node);
  } finally {
    orphanGuard.killAll();
    await node.stop();
  }
}

type Given = {
  node: ChainNode;
  orphanGuard: ReturnType<typeof startOrphanGuard>;
  db: Database;
  url: string;
};

async function indexAlone({ node, orphanGuard, db, url: databaseUrl }: Given): Promise<Spent> {
  const chain = { chainId, rpcUrl: node.url };
  const spent = meter(node);
  const ponder = await startPonderAlone({ chain, databaseUrl, schema, orphanGuard });
  const result = spent(await countRows(db, sql.table(`${schema}.event`)));
  await ponder.stop();
  return result;
}

/** Reports memory with each tenth of the facts: what a run of hours has shown if it is stopped. Returns what ends it. */
function reportTenths(db: Database, facts: number, memory: MemoryMeter): () => Promise<void> {
  let reported = 0;
  let look = Promise.resolve();
  const timer = setInterval(() => {
    look = look.then(async () => {
      // There is no log before the first role has started.
      const appended = Number(await readLogHead(db).catch(() => 0n));
      const tenths = Math.floor((appended * 10) / facts);
      if (tenths === reported) return;
      reported = tenths;
      const progress = `backfill: ${appended} of ${facts} facts appended`;
      process.stderr.write(`${progress}, memory at most ${memory.most().all} MB\n`);
    });
  }, 5_000);
  return async () => {
    clearInterval(timer);
    await look;
  };
}

/** As `npm start` runs it, but for jobs, which no history waits for. */
async function serveAll({ node, orphanGuard, db, url }: Given): Promise<Spent> {
  const spent = meter(node);
  const chains = [{ chainId, rpcUrl: node.url }];
  const roles = ["indexer", "projector", "api"] as const;
  const serving = { url, chains, orphanGuard, roles, readyWithinMs: withinMs };
  return await serve(serving, async (baseUrl) => {
    const isServed = async () =>
      (await lastBlockServed(baseUrl)) === node.lastBlock && (await hasProjectionsWithin(db, 0));
    await until("the last row", isServed, withinMs);
    return spent(await countRows(db, sql`log.fact where sub_index = 0`));
  });
}

async function lastBlockServed(baseUrl: string): Promise<unknown> {
  const { body } = await getJson(baseUrl, `/v1/activity?chainId=${chainId}&per_page=1`);
  const [row] = body.data as { blockNumber?: number }[];
  return row?.blockNumber;
}

/** Starts the clock; the returned function says what has been spent. */
function meter(node: ChainNode): (events: number) => Spent {
  const used = () => processorMs(process.pid) - processorMs(node.pid);
  const [startedAt, before] = [performance.now(), used()];
  return (events) => ({
    seconds: (performance.now() - startedAt) / 1_000,
    processorSeconds: (used() - before) / 1_000,
    events,
  });
}

async function countRows(db: Database, from: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${from}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

function expectSame(ponder: Spent, ours: Spent): void {
  if (ponder.events !== ours.events)
    throw new Error(`Ponder stored ${ponder.events} events, the log has ${ours.events}`);
}

function figuresOf(measured: readonly Round[], { lastBlock }: ChainNode): Figure[] {
  const events = measured[0]?.ours.events ?? 0;
  const size = `${events} events in ${lastBlock} blocks`;
  type Goal = Parameters<typeof medianFigure>[2];
  const figure = (name: string, goal: Goal, of: (round: Round) => number) =>
    medianFigure(`backfill, ${name}`, measured.map(of), goal, size);
  const compared = measured.flatMap(({ ponder, ours }): Compared[] =>
    ponder === undefined ? [] : [{ ponder, ours }],
  );
  const comparison = (name: string, goal: Goal, of: (spent: Compared) => number) =>
    compared.length === 0 ? [] : [medianFigure(`backfill, ${name}`, compared.map(of), goal, size)];
  const rate = { unit: "facts/s" } as const;
  const each = { unit: "requests" } as const;
  const perThousand = (requests: number) => (requests * 1_000) / lastBlock;
  return [
    ...comparison(
      "of Ponder's speed alone",
      { unit: "ratio", atLeast: 0.9 },
      ({ ponder, ours }) => ponder.seconds / ours.seconds,
    ),
    ...comparison(
      "the same by processor time",
      { unit: "ratio" },
      ({ ponder, ours }) => ponder.processorSeconds / ours.processorSeconds,
    ),
    ...comparison("Ponder alone", rate, ({ ponder }) => events / ponder.seconds),
    figure("until the last row is served", rate, ({ ours }) => events / ours.seconds),
    figure("processor seconds", { unit: "s" }, ({ ours }) => ours.processorSeconds),
    figure("requests for ranges of logs, 1,000 blocks", each, ({ requests }) =>
      perThousand(requests.blurRanges + requests.otherRanges),
    ),
    figure("requests for blocks and receipts, 1,000 blocks", each, ({ requests }) => {
      const { blurBlocks, otherBlocks, blurReceipts, otherReceipts } = requests;
      return perThousand(blurBlocks + otherBlocks + blurReceipts + otherReceipts);
    }),
    figure(
      "memory of all processes, 1 GB of shared buffers",
      { unit: "MB", atMost: 2_500 },
      ({ memory }) => memory.all,
    ),
    figure("of it PostgreSQL's buffers", { unit: "MB" }, ({ memory }) => memory.shared),
  ];
}
