import { join } from "node:path";
import { findFreePort } from "#ops/free-port.ts";
import { ponderDirectory } from "#ops/programs.ts";
import { runSubject } from "./run-subject.ts";
import { inDatabase, readsOf } from "./stored-tables.ts";
import type { Subject } from "./subject.ts";

const app = join(import.meta.dirname, "../plain-ponder");
const schema = "plain_ponder";

/** Ponder as published, with handlers that only store (`../plain-ponder`). */
export const plainPonder: Subject = {
  name: "ponder",
  async start(settings) {
    const { chain, nodes, hasSocket, databaseUrl } = settings;
    const port = await findFreePort();
    const [first] = nodes;
    const command = join(ponderDirectory, "dist/esm/bin/ponder.js");
    return runSubject({
      ...settings,
      args: [command, "start", "--root", app, "--schema", schema, "--port", `${port}`],
      environment: {
        ...{ DATABASE_URL: databaseUrl, PONDER_TELEMETRY_DISABLED: "1" },
        RELIABILITY_CHAIN_ID: `${chain.chainId}`,
        RELIABILITY_START_BLOCK: `${chain.firstBlock + 1}`,
        RELIABILITY_RPC_URLS: nodes.map(({ url }) => url).join(),
        ...(hasSocket && first !== undefined && { RELIABILITY_WS_URL: first.wsUrl }),
      },
      baseUrl: `http://127.0.0.1:${port}`,
    });
  },
  ...readsOf({
    table: (name) => `${schema}.${name}`,
    ...{ logIndex: "log_index", tokenId: "token_id", tokenKey: "token_id" },
  }),
  readDescription: (databaseUrl) =>
    inDatabase(
      databaseUrl,
      async (client) =>
        (await client.query(`select name, symbol from ${schema}.collection limit 1`)).rows[0],
      undefined,
    ),
};
