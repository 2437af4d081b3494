import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { z } from "zod";

const Installation = z.object({
  owner: z.looseObject({ pid: z.int() }),
  environment: z
    .object({ RPC_URL_33139: z.string().optional(), DATABASE_URL: z.string() })
    .catchall(z.string()),
});

/** The service that runs in a data directory with local chains. */
type RunningMarket = {
  /** Of its local chain 33139; null where its chains are not its own. */
  readonly rpcUrl: string | null;
  readonly pid: number;
  /** Settings of its processes. */
  readonly environment: Readonly<Record<string, string>> & { readonly DATABASE_URL: string };
  /** Bytes of its database. */
  readDatabaseBytes(): Promise<number>;
};

/** Throws when none runs there. */
export async function readRunningMarket(dataDir: string): Promise<RunningMarket> {
  const text = await readFile(join(dataDir, "running.json"), "utf8").catch(() => {
    throw new Error(`No service runs in ${dataDir}; start it with npm start`);
  });
  const { owner, environment } = Installation.parse(JSON.parse(text));
  return {
    rpcUrl: environment.RPC_URL_33139?.split(",")[0] ?? null,
    pid: owner.pid,
    environment,
    async readDatabaseBytes() {
      const client = new pg.Client(environment.DATABASE_URL);
      await client.connect();
      try {
        const { rows } = await client.query<{ bytes: string }>(
          "select pg_database_size(current_database()) as bytes",
        );
        return Number(rows[0]?.bytes);
      } finally {
        await client.end();
      }
    },
  };
}
