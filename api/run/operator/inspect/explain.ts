import { Argument, type Command } from "commander";
import type { PlacedFact } from "#projections/log/facts.ts";
import { explainRow, type FactLinks, verdictOf } from "#api/run/inspection/explain-row.ts";
import { finders } from "#api/run/inspection/find-subject.ts";
import { lineOf } from "#api/run/inspection/present-fact.ts";
import { stringify } from "#api/run/inspection/stringify.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

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
