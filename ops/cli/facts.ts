import { Argument, type Command, InvalidArgumentError } from "commander";
import { createSignal, openListener } from "#jobs/runner/signals.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { type FactFilter, type PlacedFact, readFactsAfter } from "#projections/log/facts.ts";
import { createLogger } from "../output/logger.ts";
import {
  explainRow,
  type FactLinks,
  finders,
  findTokenAt,
  verdictOf,
} from "../reports/explain-row.ts";
import { isKind, lineOf, presentFact, stringify } from "../reports/present-fact.ts";
import { parseChain } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { print } from "./output.ts";

const AT_ONCE = 1_000;
const POLL_MS = 1_000;

type Options = { kind: number[]; chain: number[]; after?: bigint; json?: boolean };

/** `op tail` */
export function addTail(program: Command): void {
  program
    .command("tail")
    .description("print new facts, one line each, until interrupted")
    .option("--kind <kind>", "only facts of this kind; may be repeated", parseKind, [])
    .option("--chain <id>", "only facts of this chain; may be repeated", parseChains, [])
    .option(
      "--after <position>",
      "start after this position instead of at the head of the log",
      parsePosition,
    )
    .action(async (options: Options) => {
      await withDatabase("tail", async ({ db, url }) => {
        const ending = new AbortController();
        const end = () => ending.abort();
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
        process.stdout.once("error", end);
        await follow(db, url, options, ending.signal);
      });
    });
}

async function follow(
  db: Database,
  url: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const appended = createSignal();
  const listener = openListener({
    url,
    channels: ["log"],
    onNotify: () => appended.notify(),
    logger: createLogger("op", "error", (line) => void process.stderr.write(`${line}\n`)),
  });
  let after = options.after ?? (await readLogHead(db));
  try {
    while (!signal.aborted) {
      const next = await printFrom(db, { ...filterOf(options), after }, options.json === true);
      if (next === after) await appended.wait(POLL_MS, signal);
      after = next;
    }
  } finally {
    await listener.stop();
  }
}

/** Prints one batch. Returns the position up to which the log was read. */
async function printFrom(db: Database, filter: FactFilter, json: boolean): Promise<bigint> {
  const head = await readLogHead(db);
  const facts = await readFactsAfter(db, filter, head, AT_ONCE);
  for (const fact of facts) print(json, presentFact(fact), json ? [] : [lineOf(fact)]);
  const last = facts.at(-1);
  return facts.length === AT_ONCE && last !== undefined ? last.position : head;
}

function filterOf({ kind, chain }: Options): Omit<FactFilter, "after"> {
  return {
    kinds: kind.length === 0 ? null : kind,
    chainIds: chain.length === 0 ? null : chain,
  };
}

function parseKind(text: string, before: number[]): number[] {
  if (isKind(text)) return [...before, factKind[text]];
  throw new InvalidArgumentError(`expected one of ${Object.keys(factKind).join(", ")}`);
}

const parseChains = (text: string, before: number[]) => [...before, parseChain(text)];

function parsePosition(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("expected a whole number from 0");
}

const MOST = 1_000;

type ExplainOptions = { at?: bigint; json?: boolean };

/** `op explain listing|bid|sale|token|collection <id>` */
export function addExplain(program: Command): void {
  program
    .command("explain")
    .description("print the facts that a row was derived from, in chain order")
    .addArgument(new Argument("<what>").choices(Object.keys(finders)))
    .argument(
      "<id>",
      "listing, bid: its id; sale: its saleId; token: chain:contract:id; collection: chain:slug or address",
    )
    .option("--at <block>", "a token as it was at the end of a block of its chain", parsePosition)
    .action(async (what: string, id: string, { at, json }: ExplainOptions, command: Command) => {
      const refuse = (message: string) => command.error(message, { exitCode: 2 });
      if (at !== undefined && what !== "token") refuse("--at is for tokens");
      await withDatabase("explain", async ({ db, config }) => {
        const subject =
          at === undefined
            ? await finders[what]?.(db, id, refuse)
            : await findTokenAt(db, id, at, refuse);
        if (subject === null || subject === undefined) {
          process.stderr.write(`no such ${what}: ${id}\n`);
          process.exitCode = 1;
          return;
        }
        const { content, facts } = await explainRow(db, config, { what, id, subject, most: MOST });
        const { position, total } = content;
        const omitted = total - facts.length;
        print(json, content, [
          ...subject.rows.map((row) => stringify(row)),
          `${total} facts, as of position ${position} of ${subject.projection}:`,
          ...facts.flatMap(({ fact, links }) => linesOf(fact, links)),
          ...(omitted > 0 ? [`… and ${omitted} more`] : []),
        ]);
      });
    });
}

function linesOf(fact: PlacedFact, links: FactLinks): string[] {
  const { block, transactionHash } = fact;
  return [
    `${verdictOf(fact)}  ${lineOf(fact)}`,
    ...(block === null ? [] : [`    block ${block.hash}  ${links?.block ?? ""}`.trimEnd()]),
    ...(transactionHash === null
      ? []
      : [`    transaction ${transactionHash}  ${links?.transaction ?? ""}`.trimEnd()]),
  ];
}
