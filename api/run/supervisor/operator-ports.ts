import { type Config, isLoopback } from "#ops/config/config.ts";
import { findFreePort } from "#ops/free-port.ts";
import type { RoleName } from "./role-modules.ts";

/**
 * The configuration with the ports of this start's console and metrics. Without OPERATOR_PORT the console takes the port
 * after the API's, or a free one. With it, or where others reach the API, metrics are served on a port of their own, and
 * the console passes them on.
 */
export async function withOperatorPorts(
  config: Config,
  roles: readonly RoleName[],
): Promise<Config> {
  const { http } = config;
  if (!roles.includes("console")) return { ...config, console: { ...config.console, port: null } };
  const port = config.console.port ?? (await findFreePort(config.console.host, http.port + 1));
  const isShared =
    http.metricsPort === null ? !isLoopback(http.host) : http.metricsPort === config.console.port;
  const metricsPort = isShared ? await findFreePort("127.0.0.1", port + 1) : http.metricsPort;
  return { ...config, http: { ...http, metricsPort }, console: { ...config.console, port } };
}

/** The settings of the processes that follow from it. */
export function operatorSettingsOf({ http, console }: Config): Record<string, string> {
  return {
    ...(console.port === null ? {} : { OPERATOR_PORT: `${console.port}` }),
    ...(http.metricsPort === null ? {} : { METRICS_PORT: `${http.metricsPort}` }),
  };
}
