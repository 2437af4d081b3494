import { type Command, InvalidArgumentError } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { DamagedArchive } from "../../../../projections/log/archives/check-archive.ts";
import {
  type Partition,
  readPartitions,
} from "../../../../projections/log/partitions/read-partitions.ts";
import { withLock } from "../../../../projections/named-lock.ts";

/** Options of a command that works on one partition or on all. */
export const withPartitionOptions = (command: Command): Command =>
  command
    .option("--partition <position>", "the partition that begins there; default: all", parseFirst)
    .option("--json", "print JSON")
    .exitOverride();

function parseFirst(text: string): bigint {
  if (!/^\d{1,18}$/.test(text))
    throw new InvalidArgumentError("expected the position that a partition begins at");
  return BigInt(text);
}

/** Whatever writes archives, or changes what the log holds of them, holds it. */
const archivesLock = "log archives";

/** Does work with the partition that begins at a position, or with all, while no other command does. */
export async function withPartitions(
  db: Database,
  first: bigint | undefined,
  work: (chosen: readonly Partition[]) => Promise<void>,
): Promise<void> {
  await withLock(db, archivesLock, async () => {
    const all = await readPartitions(db);
    const chosen = first === undefined ? all : all.filter((one) => one.first === first);
    if (first !== undefined && chosen.length === 0)
      throw new Error(`no partition of the log begins at ${first}: op log partitions lists them`);
    await work(chosen);
  });
}

/** A partition that something was not done with, and why. */
type Skipped = { first: bigint; last: bigint; hindrances: readonly string[] };

type Work<Done> = {
  findHindrances(partition: Partition): Promise<readonly string[]>;
  /** A damaged archive hinders it, too. */
  carryOut(partition: Partition): Promise<Done>;
};

/** Does work with each partition that nothing hinders. */
export async function doUnhindered<Done>(
  chosen: readonly Partition[],
  { findHindrances, carryOut }: Work<Done>,
): Promise<{ done: Done[]; skipped: Skipped[] }> {
  const done: Done[] = [];
  const skipped: Skipped[] = [];
  for (const partition of chosen) {
    const { first, last } = partition;
    const skip = (hindrances: readonly string[]) => skipped.push({ first, last, hindrances });
    const hindrances = await findHindrances(partition);
    if (hindrances.length > 0) skip(hindrances);
    else {
      try {
        done.push(await carryOut(partition));
      } catch (error) {
        if (!(error instanceof DamagedArchive)) throw error;
        skip([error.message]);
      }
    }
  }
  return { done, skipped };
}

export const notDone =
  (what: string) =>
  ({ first, last, hindrances }: Skipped): string =>
    `positions ${first} to ${last}: not ${what}: ${hindrances.join("; ")}`;
