import { resolve } from "node:path";
import { type Config, shapeConfig } from "./config.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { readCurated } from "./curated.ts";
import { Environment } from "./environment.ts";
import { misspeltSettings } from "./misspelt-settings.ts";
import {
  badValue,
  missingCompanions,
  openConsole,
  settingsOfUnknownChains,
  sharedPorts,
} from "./setting-problems.ts";

const defaultCuratedFile = resolve(import.meta.dirname, "../../../abis/curated-collections.json");

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
