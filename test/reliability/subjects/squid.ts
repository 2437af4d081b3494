import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { findFreePort } from "#ops/free-port.ts";
import { installPeers, peersDirectory } from "./install-peers.ts";
import { runSubject } from "./run-subject.ts";
import { readsOf } from "./stored-tables.ts";
import type { Subject } from "./subject.ts";

const project = join(peersDirectory, "squid");

/** SQD's processor over plain RPC, with its TypeORM store and handlers that only store (`../peers/squid`). */
export const squid: Subject = {
  name: "squid",
  async prepare({ databaseUrl }) {
    await installPeers();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(await readFile(join(project, "schema.sql"), "utf8"));
    } finally {
      await client.end();
    }
  },
  async start(settings) {
    const { chain, nodes, hasSocket, databaseUrl } = settings;
    const port = await findFreePort();
    const [first] = nodes;
    if (first === undefined) throw new Error("a chain needs a node");
    return runSubject({
      ...settings,
      args: [join(project, "main.js")],
      environment: {
        ...{ DB_URL: databaseUrl, PROMETHEUS_PORT: `${port}` },
        PEER_START_BLOCK: `${chain.firstBlock + 1}`,
        PEER_RPC_URL: hasSocket ? first.wsUrl : first.url,
      },
      baseUrl: `http://127.0.0.1:${port}`,
    });
  },
  ...readsOf({
    table: (name) => name,
    ...{ logIndex: "log_index", tokenId: "token_id", tokenKey: "id" },
  }),
  readDescription: async () => undefined,
};
