import { type Command, InvalidArgumentError } from "commander";
import type { Database } from "../../../../projections/database.ts";
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
export type Skipped = { first: bigint; last: bigint; hindrances: readonly string[] };

export const skip = ({ first, last }: Partition, hindrances: readonly string[]): Skipped => ({
  first,
  last,
  hindrances,
});

export const notDone =
  (what: string) =>
  ({ first, last, hindrances }: Skipped): string =>
    `positions ${first} to ${last}: not ${what}: ${hindrances.join("; ")}`;
