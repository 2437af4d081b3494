import { sql } from "kysely";
import { zeroAddress } from "viem";
import { commonConduit, seaport } from "../../../abis/deployments.ts";
import { chainIds } from "../../../chains/index.ts";
import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import { targetOf } from "../../../projections/engine/checkpoint.ts";
import { readPartitions } from "../../../projections/log/partitions/read-partitions.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { makeHistory } from "../../simulation/history.ts";
import { carryOut } from "../../simulation/play.ts";
import { type Random, randomFrom } from "../../simulation/random.ts";
import { orderedSteps, type Step } from "../../simulation/script.ts";
import { settle } from "./archives.ts";
import { addressOf, block, type ChainEvent, project } from "./given.ts";
import { repartition } from "./partitions.ts";

export const projections = allProjections({ feeRecipient: zeroAddress });
export const targets = projections.map(targetOf);

/** A random market of two chains with reorgs, in small partitions, all final and projected. Returns what was appended. */
export async function recordHistory(
  db: Database,
  seed: number,
  { partitionSize = 40 } = {},
): Promise<readonly Step[]> {
  await repartition(db, partitionSize);
  const random = randomFrom(seed);
  const steps = orderedSteps(random, makeHistory(random, { turns: 24, reorgDepth: 6 }));
  steps.push(...manyTransfers(random));
  for (const step of steps) await carryOut(db, step);
  await project(db, targets);
  for (const chainId of chainIds) await settle(db, chainId, 1_000_000);
  return steps;
}

/** Few tokens that pass between few accounts, which approve the exchange and revoke it: most facts are soon replaced. */
function manyTransfers(random: Random): Step[] {
  const any = () => addressOf(random.int(60, 63));
  return Array.from({ length: 40 }, (_, index): Step => {
    const of = { block: block(1, 900_000 + index), contract: addressOf(50) };
    const owner = any();
    return {
      does: "append",
      events: [
        { ...of, kind: "erc721_transfer", logIndex: 0, tokenId: 1n, from: owner, to: any() },
        { ...of, kind: "erc721_transfer", logIndex: 2, tokenId: 2n, from: any(), to: owner },
        { ...of, kind: "approval_for_all", logIndex: 3, from: owner, to: commonConduit.address },
        { ...of, kind: "erc20_approval", logIndex: 4, from: owner, to: seaport["1.6"] },
      ].map((event) => ({ ...event, amount: BigInt(random.int(0, 1)) }) as ChainEvent),
    };
  });
}

/** The partitions that are whole. */
export async function wholePartitions(db: Database) {
  const head = await readLogHead(db);
  return (await readPartitions(db)).filter(({ last }) => last < head);
}

/** All rows of the log, in one number. */
export async function hashOfLog(db: Database): Promise<string> {
  const { rows } = await sql<{ hash: string }>`
    select md5(string_agg(f::text, E'\\n' order by position)) as hash from log.fact f`.execute(db);
  return rows[0]?.hash ?? "";
}
