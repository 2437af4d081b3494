import { nearestName } from "#api/http/query.ts";
import { chainIds } from "#chains/index.ts";
import { chainSettings } from "./chain-settings.ts";
import { isLoopback } from "./config.ts";
import { databaseSettings } from "./database-settings.ts";
import { Environment } from "./environment.ts";
import { partnerSettingDependencies } from "./partner-settings.ts";
import { aboutSetting } from "./setting.ts";

const chainSettingNames = new Set(
  Object.keys(chainSettings).flatMap((name) => /^(.+)_\d+$/.exec(name)?.[1] ?? []),
);
const ofSomeChain = new RegExp(`^(${[...chainSettingNames].join("|")})_\\d+$`);

/** Settings of chains that are not known. */
export function settingsOfUnknownChains(named: Record<string, string>): string[] {
  return Object.keys(named)
    .filter((name) => ofSomeChain.test(name))
    .filter((name) => !Object.hasOwn(Environment.shape, name))
    .map((name) => `${name}: unknown chain; known chains are ${chainIds.join(" and ")}`);
}

/** A setting whose value is not of its form; a secret value is left out. */
export function badValue(name: string, value: string | undefined): string {
  const { expectation, example, secret } = about(name);
  const got = secret || value === undefined ? "" : `, got ${JSON.stringify(value)}`;
  return `${name}: expected ${expectation}${got}. Example: ${name}=${example}`;
}

/** A port for the public, one for operators, and one for metrics. */
export function sharedPorts(named: Record<string, string>): string[] {
  const taken = new Set([Number(named.PORT ?? Environment.shape.PORT.parse(undefined))]);
  return ["OPERATOR_PORT", "METRICS_PORT"].flatMap((name) => {
    const port = named[name];
    if (port === undefined) return [];
    if (taken.has(Number(port))) return [badValue(name, port)];
    taken.add(Number(port));
    return [];
  });
}

/** A console that others reach without a password. */
export function openConsole(named: Record<string, string>): string[] {
  const { OPERATOR_HOST: host = "127.0.0.1", OPERATOR_PASSWORD: password } = named;
  if (isLoopback(host) || password !== undefined) return [];
  const { expectation, example } = about("OPERATOR_PASSWORD");
  return [
    `OPERATOR_PASSWORD: expected ${expectation}, since OPERATOR_HOST is not loopback. Example: OPERATOR_PASSWORD=${example}`,
  ];
}

/** Settings that others need. */
export function missingCompanions(named: Record<string, string>): string[] {
  const problems: string[] = [];
  const requireWith = (name: string, companion: string) => {
    if (named[name] || !named[companion]) return;
    const { expectation, example } = about(name);
    problems.push(
      `${name}: expected ${expectation}, since ${companion} is set. Example: ${name}=${example}`,
    );
  };
  for (const chainId of chainIds) requireWith(`RPC_URL_${chainId}`, `WS_URL_${chainId}`);
  requireWith(
    "FEE_RECIPIENT",
    chainIds.map((chainId) => `RPC_URL_${chainId}`).find((name) => named[name]) ?? "",
  );
  for (const name of Object.keys(databaseSettings).filter(isAddress)) {
    requireWith("DATABASE_URL", name);
  }
  if (named.DATABASE_READ_URL && named.DATABASE_READ_URLS) {
    problems.push(
      "DATABASE_READ_URL: expected to be absent, since DATABASE_READ_URLS is set and may name several",
    );
  }
  for (const [name, companion] of partnerSettingDependencies) requireWith(name, companion);
  requireWith("MAIL_FROM", "SMTP_URL");
  return problems;
}

/** Other addresses of the database need its own. */
const isAddress = (name: string) => name !== "DATABASE_URL" && !name.endsWith("_SECONDS");

function about(name: string) {
  return aboutSetting(name, Environment.shape[name as keyof Environment]);
}

const known = Object.keys(Environment.shape);

/** The first two words of settings that have more: no other program has them in common with us by chance. */
const families = new Set(
  known.flatMap((name) => {
    const words = name.split("_");
    return words.length > 2 ? [words.slice(0, 2).join("_")] : [];
  }),
);

/** What Kubernetes tells a process of its services, whatever these are called. */
const ofService =
  /_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** Few: the environment is full of others' variables, and the shortest names are too near to them. */
const changesOf = (letters: number) => Math.floor(letters / 6);

/** Variables that look like settings and are none: what they were to change would stay as it is. */
export function misspeltSettings(named: Record<string, string>): string[] {
  return Object.keys(named).flatMap((name) => {
    if (known.includes(name) || ofService.test(name)) return [];
    const meant = nearestName(name, known, changesOf);
    if (meant !== undefined && meant.length > shortest)
      return [`${name}: there is no such setting; did you mean ${meant}?`];
    const [first = "", second = ""] = name.split("_");
    if (!families.has(`${first}_${second}`)) return [];
    const others = known.filter((one) => one.startsWith(`${first}_${second}`));
    return [`${name}: there is no such setting; settings like it are ${others.join(", ")}`];
  });
}

/** `HOST`, `PORT`: a shell's own variables differ from them by case alone. */
const shortest = 4;
