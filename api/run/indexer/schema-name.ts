import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ponderDirectory, projectRoot } from "#ops/programs.ts";
import type { IndexedSources } from "./indexed-sources.ts";

/**
 * `ponder_<chain id>_<8 hex digits>`, a hash of what is indexed and of the code that decodes it. It covers everything
 * that makes Ponder reject its own schema, so that the same name always means the same rows. RPC URLs are not part of
 * it. Each generation has its own schema.
 */
export function schemaName(sources: IndexedSources, generation: number): string {
  const hash = createHash("sha256").update(JSON.stringify(sources));
  if (generation > 0) hash.update(`\0generation ${generation}\0`);
  hash.update(ponderVersion());
  for (const file of decoderFiles()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  }
  return `ponder_${sources.chainId}_${hash.digest("hex").slice(0, 8)}`;
}

function decoderFiles(): string[] {
  const handlers = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `src/${name}`);
  return ["ponder.config.ts", "ponder.schema.ts", ...handlers].toSorted();
}

function ponderVersion(): string {
  const manifest = join(ponderDirectory, "package.json");
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
