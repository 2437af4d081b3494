import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import type { RoleName } from "./role-modules.ts";

/**
 * The configuration with the ports of this start's console and metrics. Without OPERATOR_PORT the console takes the port
 * after the API's, or a free one. With it the API serves metrics on a port of their own, and the console passes them on.
 */
export async function withOperatorPorts(
  config: Config,
  roles: readonly RoleName[],
): Promise<Config> {
  const { http } = config;
  if (!roles.includes("console")) return { ...config, console: { ...config.console, port: null } };
  const port = config.console.port ?? (await freePort(config.console.host, http.port + 1));
  const isShared = http.metricsPort !== null && http.metricsPort === config.console.port;
  const metricsPort = isShared ? await freePort("127.0.0.1", port + 1) : http.metricsPort;
  return { ...config, http: { ...http, metricsPort }, console: { ...config.console, port } };
}

/** The settings of the processes that follow from it. */
export function operatorSettingsOf({ http, console }: Config): Record<string, string> {
  return {
    ...(console.port === null ? {} : { OPERATOR_PORT: `${console.port}` }),
    ...(http.metricsPort === null ? {} : { METRICS_PORT: `${http.metricsPort}` }),
  };
}

/** The preferred port, or any where that is taken. */
async function freePort(host: string, preferred: number): Promise<number> {
  const isPort = preferred <= 65_535;
  return (isPort ? await tryPort(host, preferred) : null) ?? (await tryPort(host, 0)) ?? preferred;
}

async function tryPort(host: string, port: number): Promise<number | null> {
  const server = createServer();
  const found = await new Promise<number | null>((resolve) => {
    server.once("error", () => resolve(null));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : null);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return found;
}
