import type { Address } from "viem";
import type { Random } from "#test/simulation/random.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "../database/given.ts";
import type { openProjectedLog } from "../orders/projected-log.ts";

type ProjectedLog = Awaited<ReturnType<typeof openProjectedLog>>;

/** Blocks of a history: from 1 on. */
export const historyHeights = 10;

const dead: Address = "0x000000000000000000000000000000000000dead";
const zero: Address = "0x0000000000000000000000000000000000000000";
/** One has single transfers, one units, one ranges; a quarter of everything is of the last. */
export const historyContracts = [addressOf(60), addressOf(61), addressOf(62)];
export const historyPeople = [1, 2, 3, 4].map((index) => addressOf(index));

/** Transfers of both standards, alone and in ranges, of the same ids: what standards forbid is as likely as the rest. */
function eventsOf(height: number, branch: string): ChainEvent[] {
  const random = randomFrom(height * 37 + branch.charCodeAt(0));
  return Array.from({ length: random.int(1, 7) }, (_, logIndex) => ({
    ...drawTransfer(random),
    block: block(1, height, branch),
    logIndex,
  }));
}

function drawTransfer(random: Random): Pick<ChainEvent, "kind" | "contract"> & Partial<ChainEvent> {
  const [first, second, third] = historyContracts;
  const kind = random.pick([
    ...(["erc721_transfer", "erc721_transfer", "erc1155_transfer", "erc1155_transfer"] as const),
    "erc721_consecutive_transfer" as const,
  ]);
  const usual = { erc721_transfer: first, erc1155_transfer: second };
  const contract = kind === "erc721_consecutive_transfer" ? third : usual[kind];
  return {
    kind,
    contract: (random.chance(0.25) ? third : contract) ?? addressOf(60),
    from: random.chance(0.3) ? zero : random.pick(historyPeople),
    to: random.chance(0.15) ? random.pick([dead, zero]) : random.pick(historyPeople),
    tokenId: BigInt(random.int(1, 6)),
    ...(kind === "erc721_transfer" ? {} : { amount: BigInt(random.int(0, 4)) }),
  };
}

/** Branches that the heights have in the end; others were recorded and taken back, before or after later blocks. */
export async function playHistory(live: ProjectedLog, random: Random): Promise<string[]> {
  await live.clear();
  const kept = Array.from({ length: historyHeights + 1 }, () => random.pick(["a", "b", "c"]));
  for (let height = 1; height <= historyHeights; height += 1) {
    for (const branch of random.shuffle(["a", "b", "c"])) {
      if (branch !== kept[height] && random.chance(0.4)) continue;
      await live.happens(...eventsOf(height, branch));
      if (branch !== kept[height]) await live.retract(block(1, height, branch));
    }
    if (random.chance(0.3)) {
      const back = random.int(1, height);
      await live.retract(block(1, back, kept[back]));
      await live.readopt(block(1, back, kept[back]));
    }
  }
  return kept;
}

/** Makes a database what it is that was stopped at a block: it has the blocks up to it alone. */
export async function stopAt(
  stopped: ProjectedLog,
  height: number,
  kept: readonly string[],
): Promise<void> {
  await stopped.clear();
  const facts = Array.from({ length: height }, (_, at) => eventsOf(at + 1, kept[at + 1] ?? "a"));
  await appendEvents(stopped.db, facts.flat());
  await stopped.happens();
}
