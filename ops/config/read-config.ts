import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { chainById, chainIds, chains } from "#chains/index.ts";
import type { CuratedCollection } from "#projections/collections/facts.ts";
import { type Config, shapeConfig } from "./config.ts";
import { Environment } from "./environment.ts";
import { addressSetting } from "./setting.ts";
import {
  badValue,
  missingCompanions,
  misspeltSettings,
  openConsole,
  settingsOfUnknownChains,
  sharedPorts,
} from "./setting-problems.ts";

const defaultCuratedFile = resolve(import.meta.dirname, "../../abis/curated-collections.json");

/** The environment of the process, completed from `.env`. */
export function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch {
    // There is no .env.
  }
  return { ...process.env };
}

/** Validates the whole environment and groups it by topic. Throws all problems at once, with secrets masked. */
export function readConfig(variables: Record<string, string | undefined>): Config {
  const named = withoutBlanks(variables);
  const parsed = Environment.safeParse(named);
  const problems = settingsOfUnknownChains(named);
  const reported = new Set(problems.map((line) => line.split(":", 1)[0]));
  problems.push(...misspeltSettings(named).filter((line) => !reported.has(line.split(":", 1)[0])));
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
    problems.push(...[...names].map((name) => badValue(name, named[name])));
  }
  problems.push(...[...missingCompanions(named), ...sharedPorts(named)], ...openConsole(named));
  const curatedFile = resolve(named.CURATED_FILE ?? defaultCuratedFile);
  const curated = readCurated(curatedFile);
  if ("fault" in curated)
    problems.push(`${badValue("CURATED_FILE", named.CURATED_FILE)} (${curated.fault})`);
  if (!parsed.success || "fault" in curated || problems.length > 0) {
    throw new ConfigurationError(problems);
  }
  return shapeConfig(parsed.data, { file: curatedFile, collections: curated.collections });
}

function withoutBlanks(variables: Record<string, string | undefined>): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const trimmed = value?.trim();
    if (trimmed) named[name] = trimmed;
  }
  return named;
}

const Collection = z.strictObject({
  chainId: z.union(chainIds.map((chainId) => z.literal(chainId))),
  slug: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  name: z.string().min(1),
  verified: z.boolean(),
  /** The primary contract of the collection; one of `contracts`. */
  primary: addressSetting,
  contracts: z.array(addressSetting).min(1),
  /** Block of the first deployment, if it is before the chain's start block. */
  fromBlock: z.number().int().min(0).optional(),
  /** The creator fee of contracts without ERC-2981. */
  royalty: z
    .strictObject({ recipient: addressSetting, bps: z.number().int().min(1).max(10_000) })
    .optional(),
});

const CuratedFile = z
  .array(Collection)
  .refine((all) => all.every(({ primary, contracts }) => contracts.includes(primary)), {
    message: "every primary must be one of its collection's contracts",
  })
  .refine(
    (all) =>
      all.every(
        ({ chainId, royalty }) =>
          royalty === undefined || chainById(chainId).hasConfiguredRoyalties,
      ),
    {
      message: `a royalty can be configured on ${chains
        .filter(({ hasConfiguredRoyalties }) => hasConfiguredRoyalties)
        .map(({ id }) => `chain ${id}`)
        .join(", ")} only`,
    },
  )
  .refine(
    (all) => new Set(all.map(({ chainId, slug }) => `${chainId}/${slug}`)).size === all.length,
    {
      message: "slugs of one chain must differ",
    },
  );

/** Reads the curated collections; `fault`: why the file is invalid. */
function readCurated(path: string): { collections: CuratedCollection[] } | { fault: string } {
  try {
    const parsed = CuratedFile.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (parsed.success) return { collections: parsed.data };
    const faults = parsed.error.issues.map((issue) =>
      `${z.core.toDotPath(issue.path)} ${issue.message}`.trim(),
    );
    return { fault: `${path}: ${faults.join("; ")}` };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Exit code of a configuration error (EX_CONFIG of sysexits.h). A restart does not help. */
export const configurationExitCode = 78;

/** All problems of a configuration, one line per setting, as text for operators. */
export class ConfigurationError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((line) => `  ${line}`).join("\n")}`);
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}
