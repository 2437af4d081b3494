import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../../projections/database.ts";
import { type Archive, readDetached } from "../../../projections/log/archives/archives.ts";
import type { Finding } from "./find-server-problems.ts";

/** Files that alone have facts of the log, and are gone or have another size. Nothing of them is read. */
export async function checkArchives(db: Database): Promise<Finding[]> {
  const found = await Promise.all((await readDetached(db)).map(checkFile));
  return found.flat();
}

async function checkFile({ directory, file, bytes, first }: Archive): Promise<Finding[]> {
  const place = join(directory, file);
  const held = await stat(place).catch(() => null);
  if (held !== null && BigInt(held.size) === bytes) return [];
  const finding =
    held === null ? `${place} is missing` : `${place} has ${held.size} bytes in place of ${bytes}`;
  return [
    {
      about: "archives",
      isFault: true,
      finding: `${finding}: it alone has facts of the log`,
      advice: `restore a copy; where it is elsewhere: op log archive --partition ${first} --to DIRECTORY`,
    },
  ];
}
