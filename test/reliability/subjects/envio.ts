import { join } from "node:path";
import { findFreePort } from "#ops/free-port.ts";
import { installPeers, peersDirectory, runInstalled } from "./install-peers.ts";
import { runSubject } from "./run-subject.ts";
import { readsOf } from "./stored-tables.ts";
import type { Subject, SubjectSettings } from "./subject.ts";

const project = join(peersDirectory, "envio");

/** Envio HyperIndex over plain RPC, with handlers that only store (`../peers/envio`). */
export const envio: Subject = {
  name: "envio",
  /** Its program is generated for the addresses of its nodes. */
  async prepare(settings) {
    await installPeers();
    const environment = sourceOf(settings);
    await runInstalled("pnpm", ["install", "--frozen-lockfile"], { cwd: project });
    const envio = join(project, "node_modules/.bin/envio");
    await runInstalled(envio, ["codegen", "--config", configOf(settings)], {
      ...{ cwd: project, environment },
    });
  },
  async start(settings) {
    const port = await findFreePort();
    const program = join(project, "node_modules/envio/bin.mjs");
    return runSubject({
      ...settings,
      args: [program, "start", "-d", project, "--config", configOf(settings)],
      environment: {
        ...sourceOf(settings),
        ...databaseOf(settings.databaseUrl),
        ...{ ENVIO_HASURA: "false", TUI_OFF: "true", ENVIO_INDEXER_PORT: `${port}` },
      },
      baseUrl: `http://127.0.0.1:${port}`,
      stopsByTerminal: true,
    });
  },
  ...readsOf({
    table: (name) => `public."${name[0]?.toUpperCase()}${name.slice(1)}"`,
    ...{ logIndex: '"logIndex"', tokenId: '"tokenId"', tokenKey: "id" },
  }),
  readDescription: async () => undefined,
};

const configOf = ({ hasSocket }: SubjectSettings) =>
  hasSocket ? "config.yaml" : "config.polling.yaml";

function sourceOf({ chain, nodes }: SubjectSettings): Record<string, string> {
  const [first] = nodes;
  if (first === undefined) throw new Error("a chain needs a node");
  return {
    PEER_CHAIN_ID: `${chain.chainId}`,
    PEER_START_BLOCK: `${chain.firstBlock + 1}`,
    ...{ PEER_RPC_URL: first.url, PEER_WS_URL: first.wsUrl },
  };
}

function databaseOf(databaseUrl: string): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  return {
    ...{ ENVIO_PG_HOST: hostname, ENVIO_PG_PORT: port, ENVIO_PG_SSL_MODE: "false" },
    ...{ ENVIO_PG_USER: username, ENVIO_PG_PASSWORD: password },
    ENVIO_PG_DATABASE: pathname.slice(1),
  };
}
