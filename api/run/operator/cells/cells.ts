import type { Command } from "commander";
import { sql } from "kysely";
import { allProjections } from "../../../../projections/all.ts";
import { type Database, openDatabase } from "../../../../projections/database.ts";
import { readHeldChains } from "../../../../projections/log/cells/read-held-chains.ts";
import { migrate } from "../../../../projections/log/migrate.ts";
import { type MoveStep, moveChain } from "../../cells/move-chain.ts";
import type { Config } from "../../config/config.ts";
import { ConfigurationError } from "../../config/configuration-error.ts";
import { maskUrl } from "../../config/setting.ts";
import { commandAddress, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { openProgress } from "../cli/progress.ts";

type MoveOptions = { chain: string; indexer: boolean; json?: boolean };

/** `op cells list` and `op cells move` */
export function addCells(program: Command): void {
  const cells = program.command("cells").description("databases of single chains");
  cells
    .command("list")
    .description("which database serves each chain")
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
  cells
    .command("move")
    .description(
      "move a chain from the shared database to its own (DATABASE_URL_<chain>), while everything goes on",
    )
    .requiredOption("--chain <id>", "chain id")
    .option("--no-indexer", "do not wait until the chain's indexer follows new blocks there")
    .option("--json", "print JSON")
    .exitOverride()
    .action(move);
}

async function list({ json }: { json?: boolean }): Promise<void> {
  await withDatabase("cells list", async ({ db, config, url }) => {
    const { ofChains } = config.database;
    const held = await readHeldChains(
      db,
      ofChains.map(({ chainId }) => chainId),
    );
    const own = ofChains.map((one) => ({
      chainId: one.chainId,
      database: maskUrl(held.has(one.chainId) ? url : one.url),
      waits: held.has(one.chainId),
    }));
    const others = config.chains
      .filter(({ chainId }) => !ofChains.some((one) => one.chainId === chainId))
      .map(({ chainId }) => ({ chainId, database: maskUrl(url), waits: false }));
    const chains = [...others, ...own].sort((one, other) => one.chainId - other.chainId);
    print(
      json,
      { chains },
      chains.map(({ chainId, database, waits }) =>
        waits
          ? `chain ${chainId}: ${database}, until op cells move --chain ${chainId}`
          : `chain ${chainId}: ${database}`,
      ),
    );
  });
}

async function move({ chain, indexer, json }: MoveOptions): Promise<void> {
  await withDatabase("cells move", async ({ db, config }) => {
    const own = config.database.ofChains.find(({ chainId }) => `${chainId}` === chain);
    if (own === undefined)
      throw new ConfigurationError([
        `DATABASE_URL_${chain}: required, also by the running service, which then waits for the move. ` +
          `Example: DATABASE_URL_${chain}=postgres://user:password@localhost:5432/orders_of_one_chain`,
      ]);
    const to = openDatabase({
      url: commandAddress(own.url),
      applicationName: "op cells move",
      max: 4,
      onIdleError: () => {},
    });
    const progress = openProgress("moving");
    try {
      await migrate(to);
      await assertOther(db, to);
      const { position, pausedMs } = await moveChain({
        chainId: own.chainId,
        from: db,
        to,
        awaitsIndexer: indexer,
        projections: projectionsOf(config),
        onStep: ({ task, done, total }: MoveStep) =>
          progress.report({
            task,
            done: Number(done),
            total: Number(total),
            unit: "facts",
          }),
      });
      const fields = { chainId: own.chainId, position: Number(position), pausedMs };
      print(json, fields, [
        `chain ${chain} is in its own database up to position ${position}; it took no facts for ${pausedMs} ms`,
      ]);
    } finally {
      progress.end();
      await to.destroy();
    }
  });
}

function projectionsOf({ fees: { recipient } }: Config) {
  if (recipient === null) throw new ConfigurationError(["FEE_RECIPIENT: required"]);
  return allProjections({ feeRecipient: recipient });
}

/** Two addresses of one database: nothing would be moved, and everything closed. */
async function assertOther(from: Database, to: Database): Promise<void> {
  const idOf = async (db: Database) => {
    const { rows } = await sql<{ id: string }>`
      select concat_ws(' ', inet_server_addr(), inet_server_port(), d.oid, pg_postmaster_start_time()) as id
      from pg_database d where d.datname = current_database()`.execute(db);
    return rows[0]?.id;
  };
  if ((await idOf(from)) === (await idOf(to)))
    throw new Error("the chain's own database is the shared one");
}
