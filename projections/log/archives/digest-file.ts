import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

/** A file's length, and what `sha256sum` prints of it. */
export type FileDigest = { readonly bytes: bigint; readonly sha256: string };

/** Null: there is no such file. */
export async function digestFile(place: string): Promise<FileDigest | null> {
  const found = await stat(place).catch(() => null);
  if (found === null) return null;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(place)) hash.update(chunk);
  return { bytes: BigInt(found.size), sha256: hash.digest("hex") };
}
