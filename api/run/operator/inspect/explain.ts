import { Argument, type Command } from "commander";
import { readCheckpoints } from "../../../../projections/engine/checkpoint.ts";
import { type PlacedFact, readFactsBehind } from "../../../../projections/log/provenance.ts";
import type { Config } from "../../config/config.ts";
import { lineOf, presentFact } from "../cli/fact-lines.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, stringify } from "../cli/output.ts";
import { linksOf } from "./explorers.ts";
import { finders } from "./find-subject.ts";

const MOST = 1_000;

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
    .option("--json", "print JSON")
    .action(async (what: string, id: string, { json }: { json?: boolean }, command: Command) => {
      const refuse = (message: string) => command.error(message, { exitCode: 2 });
      await withDatabase("explain", async ({ db, config }) => {
        const subject = await finders[what]?.(db, id, refuse);
        if (subject === null || subject === undefined) {
          process.stderr.write(`no such ${what}: ${id}\n`);
          process.exitCode = 1;
          return;
        }
        const position = (await readCheckpoints(db)).get(subject.projection)?.position ?? 0n;
        const { total, facts } = await readFactsBehind(db, subject.about, { position, most: MOST });
        const explained = facts.map((fact) => ({ fact, links: linksFor(config, fact) }));
        const content = {
          what,
          id,
          position: Number(position),
          rows: subject.rows,
          total: Number(total),
          facts: explained.map(({ fact, links }) => ({ ...presentFact(fact), links })),
        };
        const omitted = Number(total) - facts.length;
        print(json, content, [
          ...subject.rows.map((row) => stringify(row)),
          `${total} facts, as of position ${position} of ${subject.projection}:`,
          ...explained.flatMap(({ fact, links }) => linesOf(fact, links)),
          ...(omitted > 0 ? [`… and ${omitted} more`] : []),
        ]);
      });
    });
}

function linksFor(config: Config, { chainId, block, transactionHash }: PlacedFact) {
  if (chainId === null || block === null) return null;
  return linksOf(config, { chainId, block: block.number, transaction: transactionHash });
}

function linesOf(fact: PlacedFact, links: ReturnType<typeof linksOf>): string[] {
  const { block, transactionHash } = fact;
  return [
    `${verdictOf(fact)}  ${lineOf(fact)}`,
    ...(block === null ? [] : [`    block ${block.hash}  ${links?.block ?? ""}`.trimEnd()]),
    ...(transactionHash === null
      ? []
      : [`    transaction ${transactionHash}  ${links?.transaction ?? ""}`.trimEnd()]),
  ];
}

function verdictOf({ counts, droppedAt }: PlacedFact): string {
  if (counts) return "effective";
  return droppedAt === null ? "not read yet" : `retracted by ${droppedAt}`;
}
