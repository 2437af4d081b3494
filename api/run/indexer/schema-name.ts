import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { IndexedSources } from "./indexed-sources.ts";

/** Where `ponder.config.ts` lies. */
export const projectRoot = join(import.meta.dirname, "../../..");
export const ponderDirectory = join(projectRoot, "node_modules/ponder");

/**
 * The schema of what is indexed, and how: `ponder_<chain id>_<8 hex digits>`. It covers everything that makes Ponder
 * refuse a schema that it wrote itself, so the same name always means the same rows. RPC addresses are no part of it.
 * Each generation of a chain's indexing has a schema of its own.
 */
export function schemaName(sources: IndexedSources, generation: number): string {
  const hash = createHash("sha256").update(JSON.stringify(normalised(sources)));
  if (generation > 0) hash.update(`\0generation ${generation}\0`);
  hash.update(ponderVersion());
  for (const file of decoderFiles()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  }
  return `ponder_${sources.chainId}_${hash.digest("hex").slice(0, 8)}`;
}

function normalised(sources: IndexedSources): unknown[] {
  const { chainId, startBlock, transfersStartBlock, collections, wrappedNative } = sources;
  return [chainId, startBlock, transfersStartBlock, collections, wrappedNative];
}

function decoderFiles(): string[] {
  const folders = ["abis", "src"].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => `${folder}/${name}`),
  );
  return ["ponder.config.ts", "ponder.schema.ts", ...folders].toSorted();
}

function ponderVersion(): string {
  const manifest = join(ponderDirectory, "package.json");
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
