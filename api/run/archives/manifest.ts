import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { archivedColumns } from "../../../projections/log/archives/archived-columns.ts";
import type { Archive } from "../../../projections/log/archives/archives.ts";
import { writeWhole } from "./archive-file.ts";

type Bounds = Pick<Archive, "first" | "last">;

export const archiveName = ({ first, last }: Bounds): string => `fact_${first}-${last}.parquet`;
const manifestName = (bounds: Bounds): string => archiveName(bounds).replace("parquet", "json");

const position = z
  .string()
  .regex(/^\d{1,19}$/)
  .transform(BigInt);
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** What stands beside each file: whatever else is lost, it says what the file holds. */
const Manifest = z.object({
  file: z.string(),
  first: position,
  last: position,
  facts: position,
  bytes: position,
  sha256: digest,
  digest,
});

export async function writeManifest(archive: Archive): Promise<void> {
  const { directory, ...described } = archive;
  const content = { ...described, columns: archivedColumns };
  const text = JSON.stringify(
    content,
    (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value),
    2,
  );
  await writeWhole(directory, manifestName(archive), `${text}\n`);
}

/** Null: there is none, or none that can be read. */
export async function readManifest(directory: string, bounds: Bounds): Promise<Archive | null> {
  const place = join(directory, manifestName(bounds));
  const text = await readFile(place, "utf8").catch(() => null);
  if (text === null) return null;
  const parsed = Manifest.safeParse(parseJson(text));
  return parsed.success ? { ...parsed.data, directory } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
